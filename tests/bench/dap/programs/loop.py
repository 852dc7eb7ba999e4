# The same loop for debugpy.
import sys


def main(n):
    so_far = 0
    for i in range(n):
        product = i * 3
        mixed = product ^ so_far
        so_far = mixed + i  # STEP
    return so_far


print(main(int(sys.argv[1])))
