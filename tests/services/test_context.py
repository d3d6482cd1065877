"""What every use case is given."""

import uuid

from lionstudio.services.context import new_id


def test_ids_are_uuids_that_sort_in_the_order_they_were_made():
    ids = [new_id() for _ in range(10_000)]
    assert len(set(ids)) == len(ids)
    parsed = [uuid.UUID(id) for id in ids]
    assert {(one.version, one.variant) for one in parsed} == {(7, uuid.RFC_4122)}
    assert [str(one) for one in parsed] == ids
    # Two that are made within a quarter of a microsecond may change places; nothing that writes rows is that fast.
    slow = ids[::10]
    assert slow == sorted(slow)
