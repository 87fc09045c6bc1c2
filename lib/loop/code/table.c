#include "loop/code/table.h"

const struct then_row then_table[THENS + 1] = {
    [THEN_BIAS] = { INS_PLUS, BASE_BIAS, 0 }, [THEN_RESIDUAL] = { INS_PLUS, BASE_RESIDUAL, 0 },
    [THEN_RELU] = { INS_MAX, NO_BASE, 0 } };

const struct type_row type_table[] = {
    [CARRY_F32] = { true, false }, [CARRY_BF16] = { true, false }, [CARRY_U8S8] = { false, true },
    [CARRY_F64] = { true, false } };
