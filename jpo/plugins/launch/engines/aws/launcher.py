"""Launcher of AWS: a run is one EC2 instance that ends itself, whatever becomes of JPO."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from jpo.cost import Instance
from jpo.errors import LaunchError
from jpo.http.aws import code_of
from jpo.plugins.launch.credentials import config_of, refuse_credentials
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.aws import attempts, bucket, ended
from jpo.plugins.launch.engines.aws.answers import answer, client, excused
from jpo.plugins.launch.engines.aws.attempts import EXHAUSTED, Tried
from jpo.plugins.launch.engines.aws.offers import MOST_ATTEMPTS, Attempt, kind_of, largest, quota_of
from jpo.plugins.launch.engines.aws.offers import attempts as in_order
from jpo.plugins.launch.engines.aws.request import LIFE, OF_JOB, OF_PLACE, Home, home_of, life_seconds, request_of
from jpo.plugins.launch.engines.aws.settings import AwsTable, in_region, offers_of
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.plugins.launch.output_sync import OutputSync

NO_CAPACITY = re.compile(
    r"InsufficientInstanceCapacity|InsufficientHostCapacity|InsufficientReservedInstanceCapacity|Unsupported"
    r"|InsufficientCapacity|UnfulfillableCapacity|InstanceLimitExceeded|VcpuLimitExceeded|InvalidInstanceType"
    r"|MaxSpotInstanceCountExceeded|SpotMaxPriceTooLow|AuthFailure\.ServiceLinkedRoleCreationNotPermitted"
)
"""Codes after which another type or market may do: no capacity, a quota, not in this zone, no role for spot in this account."""
LOOK_SECONDS = 30.0
"""How often the log of a run that goes on is fetched; its instance brings it to S3 each minute."""
OVER = ("terminated", "shutting-down")


class AwsLauncher:
    """Launcher of EC2 instances.

    Args:
        offers: the instances of the region that may be rented, with their prices.
        clock: unix seconds.
        ledger: with the folders of runs, into which run logs come while a run goes on; None: at its end alone.
    """

    name = "aws"

    def __init__(
        self, place: AwsTable, offers: Sequence[Instance], clock: Callable[[], float], ledger: Path | None = None
    ) -> None:
        lacking = [name for name in ("region", "image", "bucket", "instance_profile") if not getattr(place, name)]
        if lacking:
            finding, remedy = f"lacks {', '.join(lacking)}", "add what is missing; docs/plugins/launch.md has an example"
            raise LaunchError("jpo.toml: [launch.aws]", finding, remedy, code="JPO-E767")
        self._place, self._offers, self._clock = place, tuple(offers), clock
        self._region, self._logs = str(place.region), OutputSync(ledger, LOOK_SECONDS)
        self._client = cache(client)  # of each service and region one

    @property
    def _ec2(self) -> Any:
        return self._client("ec2", self._region)

    def room(self, needs: Needs) -> Room:
        """The largest instance that the quotas allow; waiting is unknown: EC2 does not queue."""
        allowed, notes = self._allowed(self._attempts(needs))
        types = {attempt.instance_type for attempt in allowed}
        offers = [offer for offer in self._offers if offer.instance in types]

        def most(name: str) -> float | None:
            return max((getattr(offer, name) for offer in offers), default=0.0 if notes else None)

        return Room(most("gpus"), most("vcpus"), most("memory_gib"), note="; ".join(notes))

    def refuse(self, job: LaunchJob) -> None:
        if job.needs.nodes > 1:
            finding = f"asks for {job.needs.nodes} nodes, and a run on AWS is one instance"
            remedy = "ask for nodes = 1, or write a task of SkyPilot: jpo run --skypilot task.yaml"
            raise LaunchError(f"run {job.run_id}", finding, remedy, code="JPO-E755")
        elsewhere = "let the script read it from Secrets Manager, by its instance profile"
        refuse_credentials(job, config_of(job), "user data", elsewhere)
        self._check_place()
        wanted = self._attempts(job.needs)
        if not wanted:
            finding = f"asks for {_in_words(job.needs)}, which no instance on offer has"
            raise LaunchError(f"run {job.run_id}", finding, largest(self._offers, job.needs), code="JPO-E755")
        allowed, notes = self._allowed(wanted)
        if not allowed:
            remedy = "ask AWS for more (console: Service Quotas), or for another kind of instance"
            raise LaunchError(f"run {job.run_id}", f"needs more than AWS allows ({'; '.join(notes)})", remedy, code="JPO-E755")
        self._may_start(request_of(job, b"", allowed[0], Tried(), self._place, self._image))

    def plan(self, job: LaunchJob, config: bytes = b"") -> dict[str, object]:
        """What would be asked for, in this order, and what a start would mean: for a look beforehand."""
        allowed, notes = self._allowed(self._attempts(job.needs))
        usd = {offer.instance: (offer.usd_per_hour, offer.usd_per_hour_spot) for offer in self._offers}
        kinds = [(one.instance_type, "spot" if one.spot else "on-demand", usd[one.instance_type][one.spot]) for one in allowed]
        return {
            "region": self._region,
            "instances": [dict(zip(("type", "market", "usd_per_hour"), kind, strict=True)) for kind in kinds[:MOST_ATTEMPTS]],
            "not_allowed": list(notes),
            "image": self._image["ImageId"],
            "files": home_of(job, self._place).place,
            "longest_life_seconds": life_seconds(job.longest_seconds),
        }

    def submit(self, job: LaunchJob, folder: Path) -> str:
        tried, home = attempts.read(folder), home_of(job, self._place)
        found = self._found("tag:" + OF_JOB, home.key)
        if found is None:
            config = folder / "config.ini"
            found = self._start(job, config.read_bytes() if config.exists() else b"", folder, tried)
        self._until_known(found)
        return _engine_id(found, home)

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        home = home_of(job, self._place)
        found = self._found("tag:" + OF_JOB, home.key)
        return None if found is None else _engine_id(found, home)

    def status(self, engine_id: str) -> JobStatus:
        region, instance_id, home = _read_id(engine_id)
        instance = self._described(region, instance_id, home)
        status = ended.status_of(instance, bucket.end_of(self._client("s3", region), home), home.place)
        if instance is not None and not status.over and self._overdue(instance):
            self.cancel(engine_id)  # its own timer did not end it
        elif status.state is JobState.RUNNING:
            bring = partial(bucket.fetch_output, self._client("s3", region), home, over=False)
            self._logs.bring(home.run_id, self._clock(), bring)
        return status

    def cancel(self, engine_id: str) -> None:
        region, instance_id, home = _read_id(engine_id)
        instance = self._described(region, instance_id, home)
        if instance is not None and instance["State"]["Name"] not in OVER:
            answer(instance_id, lambda: self._client("ec2", region).terminate_instances(InstanceIds=[instance_id]))

    def collect(self, engine_id: str, folder: Path) -> None:
        """Files come home; an instance that has not ended itself although its run is over is terminated."""
        region, _, home = _read_id(engine_id)
        if self.status(engine_id).over:
            self.cancel(engine_id)
        bucket.fetch_output(self._client("s3", region), home, folder)

    def _attempts(self, needs: Needs) -> tuple[Attempt, ...]:
        """What may be tried, the cheapest first; without types whose processor the image is not made for."""
        wanted = in_order(self._offers, needs, spot=self._place.spot)
        made_for = self._image.get("Architecture")
        if not wanted or made_for is None:
            return wanted
        names = sorted({attempt.instance_type for attempt in wanted})
        of_types = [{"Name": "instance-type", "Values": names[:200]}]
        pages = answer("EC2", lambda: [*self._ec2.get_paginator("describe_instance_types").paginate(Filters=of_types)])
        kinds = [kind for page in pages for kind in page["InstanceTypes"]]
        runs = {kind["InstanceType"] for kind in kinds if made_for in kind["ProcessorInfo"]["SupportedArchitectures"]}
        return tuple(attempt for attempt in wanted if attempt.instance_type in runs)

    def _allowed(self, wanted: Sequence[Attempt]) -> tuple[tuple[Attempt, ...], tuple[str, ...]]:
        """Those of some attempts that no quota forbids, and the quotas that forbid others."""
        if not wanted:
            return (), ()
        service = self._client("service-quotas", self._region)
        asked = {(kind_of(attempt.instance_type), attempt.spot): attempt for attempt in wanted}
        known = {kind: quota_of(service, attempt) for kind, attempt in asked.items()}
        vcpus = {offer.instance: offer.vcpus for offer in self._offers}
        of_each = {attempt: known[kind_of(attempt.instance_type), attempt.spot] for attempt in wanted}
        forbids = {one: str(quota) for one, quota in of_each.items() if quota and vcpus[one.instance_type] > quota.vcpus}
        return tuple(one for one in wanted if one not in forbids), tuple(dict.fromkeys(forbids.values()))

    @cached_property
    def _image(self) -> Mapping[str, Any]:
        name = str(self._place.image)
        if name.startswith("resolve:ssm:"):
            ssm, parameter = self._client("ssm", self._region), name.removeprefix("resolve:ssm:")
            name = str(answer(f"image {name}", lambda: ssm.get_parameter(Name=parameter))["Parameter"]["Value"])
        images = answer(f"image {name}", lambda: self._ec2.describe_images(ImageIds=[name]))["Images"]
        if not images or images[0].get("State", "available") != "available":
            finding = "is not there, or not for this account" if not images else f"is {images[0]['State']}"
            raise LaunchError(f"image {name}", finding, f"name an image of {self._region} in [launch.aws]", code="JPO-E769")
        image: Mapping[str, Any] = images[0]
        return image

    def _check_place(self) -> None:
        """Whether image, subnet, security groups and bucket are there."""
        place, name = self._place, str(self._place.bucket).partition("/")[0]
        _ = self._image
        if place.subnet:
            answer(f"subnet {place.subnet}", lambda: self._ec2.describe_subnets(SubnetIds=[place.subnet]))
        if place.security_groups:
            groups = list(place.security_groups)
            answer(f"security groups {', '.join(groups)}", lambda: self._ec2.describe_security_groups(GroupIds=groups))
        answer(f"bucket {name}", lambda: self._client("s3", self._region).list_objects_v2(Bucket=name, MaxKeys=1))

    def _may_start(self, request: Mapping[str, Any]) -> None:
        """Whether the credentials may start such an instance: AWS answers a dry run with an error in either case."""
        tried = {name: value for name, value in request.items() if name != "ClientToken"}

        def dry() -> None:
            with excused(f"DryRunOperation|{NO_CAPACITY.pattern}"):
                self._ec2.run_instances(**tried, DryRun=True)

        answer("EC2", dry)

    def _start(self, job: LaunchJob, config: bytes, folder: Path, tried: Tried) -> str:
        """The id of a new instance, or of the one whose answer was lost."""
        pending = [tried.pending] if tried.pending else []
        gone = {tuple(line.split()[:2]) for line in tried.refused}
        rest = [one for one in self._attempts(job.needs) if tuple(str(one).split()) not in gone and one not in pending]
        for attempt in [*pending, *rest][: max(1, MOST_ATTEMPTS - len(tried.refused))]:
            request = request_of(job, config, attempt, tried, self._place, self._image)
            if tried.pending is None:
                tried = attempts.write(folder, (*tried.lines, str(attempt)))
            outcome = answer(f"{attempt} in {self._region}", partial(self._asked, request))
            if outcome.startswith("i-"):
                return outcome
            tried = attempts.write(folder, (*tried.lines[:-1], f"{attempt} {outcome}"))
        attempts.write(folder, (*tried.lines, EXHAUSTED))
        finding = f"gets no instance in {self._region}: {'; '.join(tried.refused)}"
        remedy = "try again later, allow more families or another region in [launch.aws], or ask for less"
        raise LaunchError(f"run {job.run_id}", finding, remedy, code="JPO-E768")

    def _asked(self, request: Mapping[str, Any]) -> str:
        """The id of the instance of a request, or the code for which another type or market may do."""
        from botocore.exceptions import ClientError

        try:
            return str(self._ec2.run_instances(**request)["Instances"][0]["InstanceId"])
        except ClientError as error:
            if code_of(error) == "IdempotentParameterMismatch":  # it was asked for before, and settings were changed since
                if found := self._found("client-token", request["ClientToken"]):
                    return found
                remedy = "run the same command again soon, or give the run another id"
                raise LaunchError("EC2", "has this run under other settings", remedy, code="JPO-E754") from None
            if not NO_CAPACITY.fullmatch(code_of(error)):
                raise
            return code_of(error)

    def _found(self, name: str, value: str) -> str | None:
        """The instance of a tag or token, started before."""
        wanted = [{"Name": name, "Values": [value]}]
        pages = answer("EC2", lambda: [*self._ec2.get_paginator("describe_instances").paginate(Filters=wanted)])
        found = [one for page in pages for reservation in page["Reservations"] for one in reservation["Instances"]]
        return str(min(found, key=lambda one: one["LaunchTime"])["InstanceId"]) if found else None

    def _until_known(self, instance_id: str) -> None:
        """Wait until EC2 knows an instance that it has just started, or it would be taken for one that is gone."""
        from botocore.exceptions import WaiterError

        def wait() -> None:
            try:
                self._ec2.get_waiter("instance_exists").wait(InstanceIds=[instance_id])
            except WaiterError as error:
                remedy = "run the same command again; nothing is started twice"
                raise LaunchError(instance_id, "is not known to EC2 yet", remedy, code="JPO-E754") from error

        answer(instance_id, wait)

    def _described(self, region: str, instance_id: str, home: Home) -> Mapping[str, Any] | None:
        """The instance of a run; None: EC2 does not know it, or it is another's."""

        def ask() -> Mapping[str, Any] | None:
            found: list[Any] = []
            with excused("InvalidInstanceID.*"):
                found = self._client("ec2", region).describe_instances(InstanceIds=[instance_id])["Reservations"]
            instances = [one for reservation in found for one in reservation["Instances"]]
            return next((one for one in instances if ended.tag(one, OF_PLACE) == home.place), None)

        return answer(instance_id, ask)

    def _overdue(self, instance: Mapping[str, Any]) -> bool:
        life = ended.tag(instance, LIFE)
        return life is not None and life.isdigit() and self._clock() > instance["LaunchTime"].timestamp() + float(life) + 60


def launcher(table: AwsTable, here: Surroundings) -> AwsLauncher:
    place = in_region(table, here)
    return AwsLauncher(place, offers_of(place, here), here.clock, here.ledger)


def _engine_id(instance_id: str, home: Home) -> str:
    return f"{home.region}/{instance_id}/{home.bucket}/{home.key}"


def _read_id(engine_id: str) -> tuple[str, str, Home]:
    """Region, instance and home in an id that `submit` gave."""
    region, instance_id, name, key = ([*engine_id.split("/", 3), "", "", ""])[:4]
    return region, instance_id, Home(region, name, key)


def _in_words(needs: Needs) -> str:
    gpus = f"{needs.gpus} GPUs" + (f" of type {needs.gpu_type}" if needs.gpus and needs.gpu_type else "")
    cpus = f"{needs.cpus:g} CPUs" if needs.cpus else ""
    memory = f"{needs.memory_gib:g} GiB" if needs.memory_gib else ""
    return ", ".join(text for text in (gpus, cpus, memory) if text)
