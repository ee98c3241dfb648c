"""Tasks of a dataset with the bytes of their cases: to read, to export in the forms of other programs, and to grade answers.
docs/howto/tasks.md has the commands. Needs numpy, as kernelmill.execution does."""
