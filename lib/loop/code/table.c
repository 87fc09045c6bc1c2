#include "loop/code/table.h"

#define STEP(word, op, with) { THEN_##word, INS_##op, with },
const struct then_step then_table[THEN_STEPS] = { CARRY_STEPS(STEP) };

bool then_in_registers(int word)
{
    const struct then_step *t = then_table;
    while (t->word && t->word != word) t++;
    return t->word;
}

const struct type_row type_table[] = {
    [CARRY_F32] = { true, false }, [CARRY_BF16] = { true, false }, [CARRY_U8S8] = { false, true },
    [CARRY_F64] = { true, false } };
