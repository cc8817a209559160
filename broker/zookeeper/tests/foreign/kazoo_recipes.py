"""Kazoo's recipes against the server whose address is the argument."""

import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoNodeError, NodeExistsError
from kazoo.recipe.watchers import ChildrenWatch, DataWatch

address = sys.argv[1]


def connect(**options):
    client = KazooClient(hosts=address, timeout=10, **options)
    client.start(timeout=10)
    return client


one, two = connect(), connect()

# Nodes and transactions.
one.ensure_path("/k/a/b")
assert one.create("/k/s-", b"x", sequence=True) == "/k/s-0000000001"
data, stat = one.get("/k/s-0000000001")
assert (data, stat.version, stat.data_length) == (b"x", 0, 1)
try:
    one.create("/k", b"")
    raise AssertionError("created twice")
except NodeExistsError:
    pass
transaction = one.transaction()
transaction.check("/k", version=0)
transaction.create("/k/t", b"t")
transaction.set_data("/k", b"k")
results = transaction.commit()
assert results[1] == "/k/t" and results[2].version == 1, results
transaction = one.transaction()
transaction.create("/k/u")
transaction.check("/k", version=7)
results = transaction.commit()
assert isinstance(results[1], BadVersionError), results
assert one.exists("/k/u") is None

# Watches.
seen, changed = [], threading.Event()


@DataWatch(two, "/k/t")
def on_data(data, stat):
    seen.append(data)
    if data == b"second":
        changed.set()


one.set("/k/t", b"second")
assert changed.wait(10), seen
children, listed = [], threading.Event()


@ChildrenWatch(two, "/k/a")
def on_children(names):
    children[:] = names
    if "c" in names:
        listed.set()


one.create("/k/a/c")
assert listed.wait(10), children

# Lock.
lock, contender = one.Lock("/lock", "one"), two.Lock("/lock", "two")
assert lock.acquire(timeout=10)
assert not contender.acquire(blocking=False)
lock.release()
assert contender.acquire(timeout=10)
contender.release()
semaphores = [client.Semaphore("/semaphore", max_leases=2) for client in (one, two)]
assert all(semaphore.acquire(timeout=10) for semaphore in semaphores)
for semaphore in semaphores:
    semaphore.release()

# Election.
led = threading.Event()
election = one.Election("/election", "one")
election.run(led.set)
assert led.is_set()

# Queues.
queue = one.Queue("/queue")
for item in (b"1", b"2", b"3"):
    queue.put(item)
assert [two.Queue("/queue").get() for _ in range(3)] == [b"1", b"2", b"3"]
locking = two.LockingQueue("/locking")
locking.put(b"job")
assert locking.get(timeout=10) == b"job" and locking.consume()

# Barriers.
barrier = one.Barrier("/barrier")
barrier.create()
waited = threading.Thread(target=lambda: two.Barrier("/barrier").wait(10))
waited.start()
barrier.remove()
waited.join(10)
assert not waited.is_alive()
entered = []


def enter(client):
    double = client.DoubleBarrier("/double", 2)
    double.enter()
    entered.append(client)
    double.leave()


threads = [threading.Thread(target=enter, args=(client,)) for client in (one, two)]
[thread.start() for thread in threads]
[thread.join(10) for thread in threads]
assert len(entered) == 2

# Leases, party, counter.
import datetime

lease = one.NonBlockingLease("/lease", datetime.timedelta(seconds=60), identifier="one")
assert lease
assert not two.NonBlockingLease("/lease", datetime.timedelta(seconds=60), identifier="two")
party = one.Party("/party", "one")
party.join()
assert list(two.Party("/party", "two")) == ["one"]
party.leave()
counter = one.Counter("/counter")
counter += 5
counter -= 2
assert two.Counter("/counter").value == 3

# Identities and four-letter words.
one.add_auth("digest", "user:secret")
from kazoo.security import make_digest_acl

one.create("/secret", b"", acl=[make_digest_acl("user", "secret", all=True)])
assert one.server_version()[0] == 3
assert two.command(b"ruok") == "imok"

# The end of a session.
three = connect()
three.create("/gone", b"", ephemeral=True)
three.stop()
three.close()
try:
    one.get("/gone")
    raise AssertionError("an ephemeral node outlived its session")
except NoNodeError:
    pass
one.delete("/k", recursive=True)
for client in (one, two):
    client.stop()
    client.close()
print("all recipes work")
