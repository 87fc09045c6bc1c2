"""python3 -m millrace_place SCRIPT [ARGUMENT]..: runs it with an allocator that leaves small holes, if there is one."""
import os
import sys

from . import heap

if len(sys.argv) < 2:
    sys.exit(__doc__)
environment = dict(os.environ)
if heap.preload():
    environment['LD_PRELOAD'] = ' '.join(filter(None, (heap.preload(), os.environ.get('LD_PRELOAD'))))
os.execve(sys.executable, [sys.executable, *sys.argv[1:]], environment)
