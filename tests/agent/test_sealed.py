import hashlib

import numpy as np
import pytest
from safetensors.numpy import save

from jpo.agent.sealed import BLANK, SEAL, header_of, seal, unseal
from jpo.errors import StoreError

TENSORS = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array([7], dtype=np.int64)}
FILE = seal(TENSORS, {"updates": 3, "history": "abc"})


def test_tensors_and_header_come_back_and_the_same_content_gives_the_same_bytes():
    tensors, header = unseal(FILE)
    assert {name: value.tolist() for name, value in tensors.items()} == {"w": [[0, 1, 2], [3, 4, 5]], "n": [7]}
    assert (header["updates"], header["history"]) == (3, "abc")
    assert header_of(FILE) == header
    assert seal(TENSORS, {"history": "abc", "updates": 3}) == FILE


@pytest.mark.parametrize("at", [0, 40, FILE.index(b"jpo-seal"), FILE.index(b"jpo-seal") + 20, len(FILE) - 1])
def test_a_byte_that_changed_anywhere_is_noticed_and_place_and_remedy_are_named(at):
    damaged = FILE[:at] + bytes([FILE[at] ^ 1]) + FILE[at + 1 :]
    with pytest.raises(StoreError, match=r"^policy file: .*restore it") as caught:
        unseal(damaged, "policy file", "restore it")
    assert caught.value.code == "JPO-E601"


def test_a_sealed_file_whose_header_is_no_table_is_refused():
    data = save(TENSORS, metadata={"jpo": f'["{(SEAL + BLANK).decode()}"]'})
    sealed = data.replace(SEAL + BLANK, SEAL + hashlib.sha256(data).hexdigest().encode(), 1)
    with pytest.raises(StoreError, match="not as JPO's agent writes it"):
        unseal(sealed)
