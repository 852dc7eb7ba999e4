/* The same loop for lldb-dap. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  int so_far = 0;
  for (int i = 0; i < n; i++) {
    int product = i * 3;
    int mixed = product ^ so_far;
    so_far = mixed + i; /* STEP */
  }
  printf("%d\n", so_far);
  return 0;
}
