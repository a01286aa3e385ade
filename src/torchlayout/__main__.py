"""`python -m torchlayout` is the command `torchlayout`."""

from torchlayout.cli import main

if __name__ == "__main__":
    main()
