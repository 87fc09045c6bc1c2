"""What is known of a tensor that autograd saves: whose memory it lies in, and who counts the changes to that.

A storage may be sent away as a whole only where the tensor, or the one it is a view of, covers it: then every change by
an operation is counted in its version.  A tensor that covers a part of a storage and has no base (unsafe_chunk, as the
cells of RNNs use it) has a version of its own: of it a copy is sent.  What cannot be told stays where it is."""
import weakref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

LARGE = 65536                                            # as the pin of millrace's planner: smaller ones always stay
KINDS = (torch.Tensor, torch.nn.Parameter)


def storage_of(t):
    return t.untyped_storage() if hasattr(t, 'untyped_storage') else t.storage()


def identity(t):
    """Names the storage of a tensor for as long as somebody holds it."""
    return storage_of(t)._cdata


def storage_bytes(t):
    return storage_of(t).nbytes()


def ordinary(t):
    """Of a kind that we know all about."""
    return type(t) in KINDS and t.layout == torch.strided and t.device.type == 'cpu' and not t.is_quantized


def view_of(t):
    return t.dtype, t.size(), t.stride(), t.storage_offset(), t.is_conj(), t.is_neg()


def rebuild(memory, view):
    """The tensor that view_of() was asked about, in other memory."""
    dtype, size, stride, offset, conj, neg = view
    unit = torch.empty(0, dtype=dtype).element_size()
    t = memory[:memory.numel() // unit * unit].view(dtype).as_strided(size, stride, offset)
    if conj:
        t = t.conj()
    return torch._neg_view(t) if neg else t


class Item:
    """A storage, or a part with a version of its own, as it was at one version.

    whole: all of the storage.  bytes: what it takes.  sendable: its bytes can leave."""
    __slots__ = ('bytes', 'version', 'alive', 'root', 'part', 'sendable', '__weakref__')

    def __init__(self, t):
        root = t if t._base is None else t._base
        self.root, self.version, self.alive = weakref.ref(root), t._version, StorageWeakRef(storage_of(t))
        self.part, self.sendable, self.bytes = None, True, storage_bytes(t)
        if root.numel() * root.element_size() != self.bytes:
            self.part = (t.data_ptr(), *view_of(t)) if not t.is_conj() and not t.is_neg() else None
            self.sendable = self.part is not None and all(k > 0 or n < 2 for k, n in zip(t.stride(), t.size()))
            if self.sendable:
                self.bytes = t.numel() * t.element_size()

    whole = property(lambda self: self.part is None)

    def small(self):
        """Not worth to be sent alone; parts of a storage go together."""
        return self.bytes < (LARGE if self.whole else LARGE // 16)

    def has(self, t):
        """Is t in this item, as it is now?"""
        root = t if t._base is None else t._base
        return (self.root() is root and self.version == t._version
                and (self.part is None or self.part == (t.data_ptr(), *view_of(t))))

    def content(self, t):
        """(address, what to keep until its bytes are written, view in these bytes)."""
        if self.part is None:
            return t.data_ptr() - t.storage_offset() * t.element_size(), t.detach(), view_of(t)
        copy = t.detach().clone()
        return copy.data_ptr(), copy, view_of(copy)


class Peeked:
    """What came back while the step still saved, for a gradient of which a gradient is taken: other memory, or another
    tensor on the same, which is the same item if it is saved once more."""

    def __init__(self):
        self.of = {}                                     # identity -> (is it still that one, item, kept handle or None)

    def add(self, t, item, handle=None):
        self.of[identity(t)] = StorageWeakRef(storage_of(t)), weakref.ref(item), handle and weakref.ref(handle)

    def find(self, t):
        """(item, tensor with t's elements whose version counts all changes, or None: it is away)."""
        alive, item, handle = self.of.get(identity(t), (None, None, None))
        item = item and not alive.expired() and item()
        if not item or handle is None:
            return item or None, None
        handle = handle()
        dtype, size, stride, offset, *lazy = view_of(t)
        if (not handle or not item.whole or handle.tensor._version != handle.version or any(lazy)
                or dtype != handle.tensor.dtype):
            return None, None
        return item, handle.tensor.as_strided(size, stride, offset)


def clash(items):
    """Do several items of one storage count its changes apart, so that none knows all of them?"""
    if len(items) < 2 or all(i.whole for i in items):
        return False
    parts = {i.part[0] for i in items if not i.whole}
    return any(i.whole for i in items) or len(parts) < len({i.part for i in items})
