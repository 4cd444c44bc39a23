"""placeholder until merge"""
from .report.files import write_atomic
