// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of money: interest, loans, prices.

import (
	"fmt"
	"math"
)

var financeServer = group{"finance", "Interest, loans and prices", []maker{
	define("finance__compound_interest", "Computes what an amount grows to with compound interest.", func(in struct {
		interestIn
		PerYear int `json:"times_per_year,omitempty" jsonschema:"default=1,minimum=1,maximum=366" jsonschema_description:"How often a year the interest is added: 1 yearly, 12 monthly"`
	}) (string, error) {
		n := float64(in.PerYear)
		end := in.Principal * math.Pow(1+in.Rate/100/n, n*in.Years)
		return amounts("%s after the time, of which %s interest", end, end-in.Principal)
	}),
	define("finance__simple_interest", "Computes the simple interest on an amount.", func(in interestIn) (string, error) {
		interest := in.Principal * in.Rate / 100 * in.Years
		return amounts("%s interest, %s in total", interest, in.Principal+interest)
	}),
	define("finance__loan_payment", "Computes the monthly payment of a loan and its total interest.", func(in loanIn) (string, error) {
		total := in.payment() * float64(in.Months)
		return amounts("%s a month, %s in total, of which %s interest", in.payment(), total, total-in.Amount)
	}),
	defineStream("finance__amortization_schedule", "Lists every payment of a loan with interest, repayment and what is left.",
		func(in loanIn, emit func(string) bool) error {
			left := in.Amount
			for month := 1; month <= in.Months; month++ {
				interest := left * in.Rate / 1200
				repaid := in.payment() - interest
				left -= repaid
				line, err := amounts("interest %s, repayment %s, left %s\n", interest, repaid, math.Abs(left))
				if err != nil {
					return err
				}
				if !emit(fmt.Sprintf("month %d: %s", month, line)) {
					return nil
				}
			}
			return nil
		}),
	define("finance__savings_plan", "Computes what regular monthly savings grow to with interest.", func(in struct {
		Monthly float64 `json:"monthly" jsonschema:"minimum=0" jsonschema_description:"What is saved each month, at its end"`
		Rate    float64 `json:"rate" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Interest per year in percent"`
		Years   float64 `json:"years" jsonschema:"minimum=0,maximum=100" jsonschema_description:"For how many years"`
	}) (string, error) {
		n, r := in.Years*12, in.Rate/1200
		end := either(r > 0, in.Monthly*(math.Pow(1+r, n)-1)/r, in.Monthly*n)
		return amounts("%s after the time, of which %s paid in", end, in.Monthly*n)
	}),
	define("finance__present_value", "Computes what a future amount is worth today at a discount rate.", func(in struct {
		Amount float64 `json:"amount" jsonschema_description:"The amount in the future"`
		Rate   float64 `json:"rate" jsonschema:"minimum=-50,maximum=1000" jsonschema_description:"Discount rate per year in percent"`
		Years  float64 `json:"years" jsonschema:"minimum=0,maximum=200" jsonschema_description:"In how many years"`
	}) (string, error) {
		return amounts("%s today", in.Amount/math.Pow(1+in.Rate/100, in.Years))
	}),
	define("finance__net_present_value", "Computes the net present value (NPV) of yearly cash flows.", func(in struct {
		flowsIn
		Rate float64 `json:"rate" jsonschema:"minimum=-50,maximum=1000" jsonschema_description:"Discount rate per year in percent"`
	}) (string, error) {
		return amounts("%s", npv(in.Rate/100, in.CashFlows))
	}),
	define("finance__internal_rate_of_return", "Computes the internal rate of return (IRR) of yearly cash flows.", func(in flowsIn) (string, error) {
		low, high := -0.99, 10.0
		atLow := npv(low, in.CashFlows)
		if len(in.CashFlows) > 1000 || !(atLow*npv(high, in.CashFlows) < 0) {
			return "", fmt.Errorf("these cash flows have no rate of return between -99%% and 1000%%; there must be payments out and in")
		}
		for range 200 {
			middle := (low + high) / 2
			if v := npv(middle, in.CashFlows); (v < 0) == (atLow < 0) {
				low = middle
			} else {
				high = middle
			}
		}
		return fmt.Sprintf("%.2f%%", low*100), nil
	}),
	define("finance__return_on_investment", "Computes the return on an investment in percent, in total and per year (CAGR).", func(in struct {
		Start float64 `json:"start" jsonschema:"minimum=0.01" jsonschema_description:"What was invested"`
		End   float64 `json:"end" jsonschema:"minimum=0" jsonschema_description:"What it is worth at the end"`
		Years float64 `json:"years,omitempty" jsonschema:"default=1,minimum=0.01,maximum=200" jsonschema_description:"After how many years"`
	}) (string, error) {
		growth := in.End / in.Start
		if _, err := finite(growth * 100); err != nil {
			return "", err
		}
		return fmt.Sprintf("%.2f%% in total, %.2f%% per year", (growth-1)*100, (math.Pow(growth, 1/in.Years)-1)*100), nil
	}),
	define("finance__add_tax", "Adds value added tax or sales tax to a price, or takes it out of one.", func(in struct {
		Price    float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price"`
		Rate     float64 `json:"rate" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"The tax in percent, such as 19"`
		Included bool    `json:"included,omitempty" jsonschema_description:"True if the price holds the tax already"`
	}) (string, error) {
		net := either(in.Included, in.Price/(1+in.Rate/100), in.Price)
		return amounts("net %s, tax %s, gross %s", net, net*in.Rate/100, net*(1+in.Rate/100))
	}),
	define("finance__discount", "Computes a price after a discount and what is saved.", func(in struct {
		Price   float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price before the discount"`
		Percent float64 `json:"percent" jsonschema:"minimum=0,maximum=100" jsonschema_description:"The discount in percent"`
	}) (string, error) {
		saved := in.Price * in.Percent / 100
		return amounts("%s, saving %s", in.Price-saved, saved)
	}),
	define("finance__split_bill", "Splits a restaurant bill with a tip among people.", func(in struct {
		Amount float64 `json:"amount" jsonschema:"minimum=0" jsonschema_description:"The bill"`
		People int     `json:"people" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"Among how many people"`
		Tip    float64 `json:"tip_percent,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"The tip in percent"`
	}) (string, error) {
		total := in.Amount * (1 + in.Tip/100)
		return amounts("%s each; %s in total with a tip of %s", total/float64(in.People), total, total-in.Amount)
	}),
	define("finance__break_even", "Computes how many units must be sold to cover the fixed costs.", func(in struct {
		FixedCosts float64 `json:"fixed_costs" jsonschema:"minimum=0" jsonschema_description:"The costs that do not depend on what is sold"`
		Price      float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price of a unit"`
		UnitCost   float64 `json:"unit_cost" jsonschema:"minimum=0" jsonschema_description:"The cost of a unit"`
	}) (string, error) {
		if in.Price <= in.UnitCost {
			return "", fmt.Errorf("the price must be above the cost of a unit, or no number of units covers the fixed costs")
		}
		units, err := finite(math.Ceil(in.FixedCosts / (in.Price - in.UnitCost)))
		return units + " units", err
	}),
	define("finance__margin", "Computes margin and markup from cost and price.", func(in struct {
		Cost  float64 `json:"cost" jsonschema:"minimum=0.01" jsonschema_description:"What the thing costs the seller"`
		Price float64 `json:"price" jsonschema:"minimum=0.01" jsonschema_description:"What it is sold for"`
	}) (string, error) {
		profit, err := money(in.Price - in.Cost)
		return fmt.Sprintf("profit %s, margin %.2f%%, markup %.2f%%", profit, (in.Price-in.Cost)/in.Price*100, (in.Price-in.Cost)/in.Cost*100), err
	}),
}}

// amounts writes named amounts with two decimals.
func amounts(format string, values ...float64) (string, error) {
	return filled(money, format, values)
}

type interestIn struct {
	Principal float64 `json:"principal" jsonschema:"minimum=0" jsonschema_description:"The amount at the start"`
	Rate      float64 `json:"rate" jsonschema:"minimum=-100,maximum=1000" jsonschema_description:"Interest per year in percent, such as 5"`
	Years     float64 `json:"years" jsonschema:"minimum=0,maximum=200" jsonschema_description:"For how many years"`
}

type loanIn struct {
	Amount float64 `json:"amount" jsonschema:"minimum=0.01" jsonschema_description:"The amount of the loan"`
	Rate   float64 `json:"rate" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Interest per year in percent"`
	Months int     `json:"months" jsonschema:"minimum=1,maximum=600" jsonschema_description:"The number of monthly payments; 30 years are 360"`
}

func (in loanIn) payment() float64 {
	r := in.Rate / 1200
	if r == 0 {
		return in.Amount / float64(in.Months)
	}
	return in.Amount * r / (1 - math.Pow(1+r, -float64(in.Months)))
}

type flowsIn struct {
	CashFlows []float64 `json:"cash_flows" jsonschema:"minItems=2" jsonschema_description:"The cash flow of each year; the first is today's, mostly negative"`
}

func npv(rate float64, flows []float64) float64 {
	total := 0.0
	for i, f := range flows {
		total += f / math.Pow(1+rate, float64(i))
	}
	return total
}
