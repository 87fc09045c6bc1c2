"""The words of a test in Python: ok(condition, "sentence"), and end() at the end."""
number = 0


def ok(good, name):
    global number
    number += 1
    print(f'{"" if good else "not "}ok {number} - {name}', flush=True)


def end():
    print(f'1..{number}')
