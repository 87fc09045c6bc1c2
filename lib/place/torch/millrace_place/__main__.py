"""python3 -m millrace_place SCRIPT [--limit=LIMIT] [--tier=DIR] [--] [ARGUMENT].. - trains in less memory.

The script is run as it is.  LIMIT: what the process may take (8G), a share of what a training step saves (25%), 'auto'
(nine tenths of what its memory group or the system has), or 'least'; without it 'auto'.  DIR: on a real disk, else
/var/tmp.  The first step is watched, then a plan is made and proved, and the rest obeys; what it cost is said at the
end."""
import os
import runpy
import sys

from . import LimitError
from .auto import Auto


def main(arguments):
    given, script = {'limit': 'auto', 'tier': '/var/tmp'}, None
    while arguments:
        name, equals, value = arguments[0].partition('=')
        if name[:2] == '--' and name[2:] in given and equals:
            given[name[2:]] = value
        elif arguments[0] == '--' and script:
            arguments = arguments[1:]
            break
        elif script is None and name[:1] != '-':
            script = arguments[0]
        else:
            break
        arguments = arguments[1:]
    if script is None:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        auto = Auto(given['limit'], given['tier'])
    except (ValueError, OSError) as e:
        print(f'millrace_place: {e}', file=sys.stderr)
        return 2
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    status = 0
    with auto:
        try:
            runpy.run_path(script, run_name='__main__')
        except LimitError as e:
            print(e, file=sys.stderr)
            return 1
        except SystemExit as e:
            status = e.code
    auto.report()
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
