"""What `benchmarks/autograde.py` is made of: classes to grade, three graders, and the measuring."""
