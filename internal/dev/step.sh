#!/bin/sh
# Copyright einolean authors
# SPDX-License-Identifier: Apache-2.0
#
# The shell of the Makefile's steps: says when a step begins and, when it has ended, how long it took
# and in one piece what it printed, since steps run side by side. STEP is its name; where STEPS names
# a folder, steps are counted in it, and STEPS_OF is how many there are.
n=
if [ -n "$STEPS" ]; then
	n=1
	while ! mkdir "$STEPS/$n" 2>/dev/null; do n=$((n + 1)); done
	n="[$n of $STEPS_OF] "
fi
echo "$n$STEP"
begin=$(date +%s)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
sh "$@" >"$log" 2>&1
code=$?
[ ! -s "$log" ] || { echo "-- $STEP, $(($(date +%s) - begin)) s"; cat "$log"; }
exit $code
