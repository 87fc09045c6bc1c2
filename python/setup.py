"""pip install ./python - millrace_place, with what moves its tensors built in.

Needs a C compiler, and place-offload: built (make) it comes along, else it has to be on PATH when a plan is made."""
import os
import shutil
import subprocess
from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get('MILLRACE_TOP') or os.path.dirname(HERE)  # told: where this folder is a copy
GUEST = next(p for p in (os.path.join(TOP, 'lib/place', name) for name in ('guest', 'plugin')) if os.path.isdir(p))
SOURCE = os.path.join(TOP, 'lib/place/torch/millrace_place')


class Build(build_py):
    def run(self):
        target = os.path.join(self.build_lib, 'millrace_place')
        os.makedirs(target, exist_ok=True)
        for name in sorted(os.listdir(SOURCE)):
            if name.endswith('.py'):
                shutil.copy(os.path.join(SOURCE, name), target)
        subprocess.run([os.environ.get('CC', 'cc'), '-std=gnu11', '-D_GNU_SOURCE', '-O2', '-fPIC', '-shared',
                        '-o', os.path.join(target, 'mover.so'),
                        *(os.path.join(GUEST, f + '.c') for f in ('heap', 'mover', 'adopt')), '-ldl', '-lpthread'],
                       check=True)
        program = os.path.join(TOP, 'bin/place-offload')
        if os.path.exists(program):
            shutil.copy(program, target)


class Wheel(bdist_wheel):
    def get_tag(self):
        return 'py3', 'none', super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


with open(os.path.join(TOP, 'VERSION')) as f:
    version = f.read().strip()
setup(name='millrace-place', version=version, description='train a PyTorch model in less memory, by a plan',
      license='GPL-3.0-or-later', packages=['millrace_place'],
      package_dir={'millrace_place': os.path.relpath(SOURCE, HERE)}, python_requires='>=3.8',
      install_requires=['torch>=1.13'],
      cmdclass={'build_py': Build, 'bdist_wheel': Wheel}, distclass=Binary)
