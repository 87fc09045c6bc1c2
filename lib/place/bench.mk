# the solver beside CBC on the full-size networks; minutes
bench-place-solver: all
	t/bench/place-solver.sh $(OUT)/place/solver.csv
.PHONY: bench-place-solver
