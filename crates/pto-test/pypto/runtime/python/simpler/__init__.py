import _task_interface

slots = _task_interface.slots
