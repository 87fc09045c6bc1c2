"""python3 -m millrace_place SCRIPT [ARGUMENT]..: runs it with a heap that leaves few holes."""
import os
import sys

from . import heap

if len(sys.argv) < 2:
    sys.exit(__doc__)
environment = dict(os.environ)
environment['LD_PRELOAD'] = ' '.join(filter(None, (heap.preload(), os.environ.get('LD_PRELOAD'))))
os.execve(sys.executable, [sys.executable, *sys.argv[1:]], environment)
