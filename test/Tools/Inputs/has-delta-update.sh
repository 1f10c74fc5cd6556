#!/bin/sh
# Interesting (exit code 1) while the module holds a delta update.
! grep -q linattn.delta_update "$1"
