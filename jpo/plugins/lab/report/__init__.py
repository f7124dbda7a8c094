"""What the lab shows: a simulated fleet, recorded jobs played again, what many runs say; and pictures of them."""
