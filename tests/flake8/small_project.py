"""One file that the stand-in of the analysis finds three things in."""

SOURCE = "import torch\n\ny = (torch.ones(2, 3)\n     .view(6))\ny.reshape(6)\ny.contiguous()\n"
