// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file checks the numbers of Chinese identity cards and companies.

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

type idCardIn struct {
	IDCard string `json:"id_card" jsonschema_description:"十八位身份证号码"`
}

var idCardForm = regexp.MustCompile(`^\d{17}[\dX]$`)

// parse checks the form; the check digit follows ISO 7064 MOD 11-2.
func (in idCardIn) parse() (number string, valid bool, err error) {
	number = strings.ToUpper(strings.TrimSpace(in.IDCard))
	if !idCardForm.MatchString(number) {
		return "", false, fmt.Errorf("“%s”不是十八位身份证号码", in.IDCard)
	}
	total, weight := 0, 1
	for i := 16; i >= 0; i-- {
		weight = weight * 2 % 11
		total += int(number[i]-'0') * weight
	}
	return number, "10X98765432"[total%11] == number[17], nil
}

func chinaCheckID(in idCardIn) (string, error) {
	number, valid, err := in.parse()
	switch {
	case err != nil:
		return "", err
	case !valid:
		return "校验码不正确,号码有误", nil
	}
	if _, err := time.Parse("20060102", number[6:14]); err != nil {
		return "校验码正确,但是出生日期不存在", nil
	}
	return "校验码正确", nil
}

var provinces = pairs(`11=北京市 12=天津市 13=河北省 14=山西省 15=内蒙古自治区 21=辽宁省 22=吉林省 23=黑龙江省 31=上海市 32=江苏省 33=浙江省 34=安徽省 35=福建省
36=江西省 37=山东省 41=河南省 42=湖北省 43=湖南省 44=广东省 45=广西壮族自治区 46=海南省 50=重庆市 51=四川省 52=贵州省 53=云南省 54=西藏自治区 61=陕西省 62=甘肃省
63=青海省 64=宁夏回族自治区 65=新疆维吾尔自治区 71=台湾省 81=香港特别行政区 82=澳门特别行政区`)

func chinaIDInfo(in idCardIn) (string, error) {
	number, valid, err := in.parse()
	if err != nil {
		return "", err
	}
	born, err := time.Parse("20060102", number[6:14])
	if err != nil || !valid {
		return "", fmt.Errorf("“%s”的校验码或出生日期不正确", in.IDCard)
	}
	province, ok := provinces[number[:2]]
	if !ok {
		province = "未知"
	}
	gender := "女"
	if (number[16]-'0')%2 == 1 {
		gender = "男"
	}
	return fmt.Sprintf("省份:%s,出生日期:%s,性别:%s", province, born.Format("2006年1月2日"), gender), nil
}

type creditCodeIn struct {
	Code string `json:"code" jsonschema_description:"十八位统一社会信用代码"`
}

const creditSigns = "0123456789ABCDEFGHJKLMNPQRTUWXY"

func chinaCreditCode(in creditCodeIn) (string, error) {
	code := strings.ToUpper(strings.TrimSpace(in.Code))
	if len(code) != 18 || strings.Trim(code, creditSigns) != "" {
		return "", fmt.Errorf("“%s”不是十八位统一社会信用代码", in.Code)
	}
	total, weight := 0, 1
	for i := range 17 {
		total += strings.IndexByte(creditSigns, code[i]) * weight
		weight = weight * 3 % 31
	}
	if creditSigns[(31-total%31)%31] == code[17] {
		return "校验码正确", nil
	}
	return "校验码不正确", nil
}
