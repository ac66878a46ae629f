from .pypto_core import answer, version
