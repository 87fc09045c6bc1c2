"""Plans for programs that have a trainer of their own.

    trainer = transformers.Trainer(.., callbacks=[millrace_place.hugging_face(limit='8G')])
    trainer = lightning.Trainer(.., callbacks=[millrace_place.lightning(limit='8G')])

Their packages are imported when one is made."""
from .auto import Auto


class _Around:
    """From the beginning of training to its end, and away if that fails."""

    def __init__(self, how):
        self.how, self.auto = how, None

    def begin(self):
        self.end()
        self.auto = Auto(**self.how).start()

    def end(self, report=True):
        if self.auto is not None:
            self.auto.stop()
            if report:
                self.auto.report()
            self.auto = None


def hugging_face(limit='auto', tier='/var/tmp', **how):
    """A transformers.TrainerCallback."""
    from transformers import TrainerCallback

    class Memory(TrainerCallback):
        around = _Around(dict(how, limit=limit, tier=tier))

        def on_train_begin(self, args, state, control, **_):
            self.around.begin()

        def on_train_end(self, args, state, control, **_):
            self.around.end()
    return Memory()


def lightning(limit='auto', tier='/var/tmp', **how):
    """A Callback of lightning, or pytorch_lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class Memory(Callback):
        around = _Around(dict(how, limit=limit, tier=tier))

        def on_train_start(self, trainer, module):
            self.around.begin()

        def on_train_end(self, trainer, module):
            self.around.end()

        def on_exception(self, trainer, module, exception):
            self.around.end(report=False)
    return Memory()
