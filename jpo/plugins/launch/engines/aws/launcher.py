"""Launcher of AWS: a run is one EC2 instance that ends itself, whatever becomes of JPO."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
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
from jpo.plugins.launch.engines.aws.offers import MOST_ATTEMPTS, Attempt, kind_of, largest, priced, quota_of
from jpo.plugins.launch.engines.aws.request import LIFE, OF_JOB, OF_PLACE, Home, home_of, life_seconds, request_of
from jpo.plugins.launch.engines.aws.settings import AwsTable, in_regions, offers_of
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
    """Launcher of EC2 instances on offer, in places of one region each; `clock`: unix seconds.

    `ledger`: with the folders of runs, into which run logs come while a run goes on; None: at its end alone.
    """

    name = "aws"

    def __init__(
        self, places: Sequence[AwsTable], offers: Sequence[Instance], clock: Callable[[], float], ledger: Path | None = None
    ) -> None:
        for place in places:
            lacking = [name for name in ("region", "image", "bucket", "instance_profile") if not getattr(place, name)]
            if lacking:
                finding = f"lacks {', '.join(lacking)}{f' for {place.region}' if len(places) > 1 else ''}"
                remedy = "add what is missing; docs/plugins/launch.md has an example"
                raise LaunchError("jpo.toml: [launch.aws]", finding, remedy, code="JPO-E767")
        self._places = {str(place.region): place for place in places}
        self._first, self._offers, self._clock = places[0], tuple(offers), clock
        self._logs = OutputSync(ledger, LOOK_SECONDS)
        self._client, self._image = cache(client), cache(self._image_in)  # one of each service and region

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
        self._may_start(self._request(job, b"", allowed[0], Tried()), allowed[0].region)

    def plan(self, job: LaunchJob, config: bytes = b"") -> dict[str, object]:
        """What would be asked for, in this order, and what a start would mean: for a look beforehand."""
        allowed, notes = self._allowed(self._attempts(job.needs))
        usd, names = priced(self._offers, job.needs, spot=self._first.spot), ("type", "market", "where", "usd_per_hour")
        return {
            "regions": [*self._places],
            "instances": [dict(zip(names, (*str(one).split(), usd[one]), strict=True)) for one in allowed[:MOST_ATTEMPTS]],
            "not_allowed": list(notes),
            "images": {region: self._image(region)["ImageId"] for region in self._places},
            "files": home_of(job, self._first).place,
            "longest_life_seconds": life_seconds(job.longest_seconds),
        }

    def submit(self, job: LaunchJob, folder: Path) -> str:
        tried, home = attempts.read(folder), home_of(job, self._first)
        found = self._found("tag:" + OF_JOB, home.key)
        if found is None:
            config = folder / "config.ini"
            found = self._start(job, config.read_bytes() if config.exists() else b"", folder, tried)
        self._until_known(*found)
        return _engine_id(*found, home)

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        home = home_of(job, self._first)
        found = self._found("tag:" + OF_JOB, home.key)
        return None if found is None else _engine_id(*found, home)

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
            ec2 = self._client("ec2", region)
            answer(instance_id, lambda: ec2.terminate_instances(InstanceIds=[instance_id])["TerminatingInstances"])

    def collect(self, engine_id: str, folder: Path) -> None:
        """Files come home; an instance that has not ended itself although its run is over is terminated."""
        region, _, home = _read_id(engine_id)
        if self.status(engine_id).over:
            self.cancel(engine_id)
        bucket.fetch_output(self._client("s3", region), home, folder)

    def _attempts(self, needs: Needs) -> tuple[Attempt, ...]:
        """What may be tried, the cheapest first; without types whose processor the image is not made for."""
        wanted = [*priced(self._offers, needs, spot=self._first.spot)]
        fitting = {region: self._runs(region, wanted) for region in dict.fromkeys(attempt.region for attempt in wanted)}
        return tuple(attempt for attempt in wanted if attempt.instance_type in fitting[attempt.region])

    def _runs(self, region: str, wanted: Sequence[Attempt]) -> set[str]:
        """The types among some attempts in a region that can run the image."""
        made_for = self._image(region).get("Architecture")
        names = sorted({attempt.instance_type for attempt in wanted if attempt.region == region})
        if made_for is None:
            return {*names}
        of_types = [{"Name": "instance-type", "Values": names[:200]}]
        kinds = self._listed(region, "describe_instance_types", "InstanceTypes", of_types)
        return {kind["InstanceType"] for kind in kinds if made_for in kind["ProcessorInfo"]["SupportedArchitectures"]}

    def _listed(self, region: str, operation: str, of: str, filters: Sequence[Mapping[str, object]]) -> list[Any]:
        """All that EC2 lists in a region."""
        pages = self._client("ec2", region).get_paginator(operation)
        return answer("EC2", lambda: [one for page in pages.paginate(Filters=filters) for one in page[of]])

    def _allowed(self, wanted: Sequence[Attempt]) -> tuple[tuple[Attempt, ...], tuple[str, ...]]:
        """Those of some attempts that no quota forbids, and the quotas that forbid others."""
        asked = {(one.region, kind_of(one.instance_type), one.spot): one for one in wanted}
        known = {kind: quota_of(self._client("service-quotas", kind[0]), one) for kind, one in asked.items()}
        vcpus = {offer.instance: offer.vcpus for offer in self._offers}
        of_each = {one: known[one.region, kind_of(one.instance_type), one.spot] for one in wanted}
        forbids = {one: quota for one, quota in of_each.items() if quota and vcpus[one.instance_type] > quota.vcpus}
        several = len(self._places) > 1
        words = (f"{quota} in {one.region}" if several else str(quota) for one, quota in forbids.items())
        return tuple(one for one in wanted if one not in forbids), tuple(dict.fromkeys(words))

    def _image_in(self, region: str) -> Mapping[str, Any]:
        name, ec2 = str(self._places[region].image), self._client("ec2", region)
        if name.startswith("resolve:ssm:"):
            ssm, parameter = self._client("ssm", region), name.removeprefix("resolve:ssm:")
            name = str(answer(f"image {name}", lambda: ssm.get_parameter(Name=parameter)["Parameter"]["Value"]))
        images = answer(f"image {name}", lambda: ec2.describe_images(ImageIds=[name])["Images"])
        if not images or images[0].get("State", "available") != "available":
            finding = "is not there, or not for this account" if not images else f"is {images[0]['State']}"
            raise LaunchError(f"image {name}", finding, f"name an image of {region} in [launch.aws]", code="JPO-E769")
        image: Mapping[str, Any] = images[0]
        return image

    def _check_place(self) -> None:
        """Whether images, subnets, security groups and bucket are there."""
        for region, place in self._places.items():
            _, ec2 = self._image(region), self._client("ec2", region)
            if place.subnet:
                answer(f"subnet {place.subnet}", partial(ec2.describe_subnets, SubnetIds=[place.subnet]))
            if place.security_groups:
                groups = list(place.security_groups)
                answer(f"security groups {', '.join(groups)}", partial(ec2.describe_security_groups, GroupIds=groups))
        name, s3 = str(self._first.bucket).partition("/")[0], self._client("s3", str(self._first.region))
        answer(f"bucket {name}", lambda: s3.list_objects_v2(Bucket=name, MaxKeys=1))

    def _request(self, job: LaunchJob, config: bytes, attempt: Attempt, tried: Tried) -> dict[str, Any]:
        if attempt.region not in self._places:
            finding = f"may have an instance in {attempt.region}, which [launch.aws] does not name any more"
            raise LaunchError(f"run {job.run_id}", finding, "name the region again until the run is over", code="JPO-E767")
        return request_of(job, config, attempt, tried, self._places[attempt.region], self._image(attempt.region))

    def _may_start(self, request: Mapping[str, Any], region: str) -> None:
        """Whether the credentials may start such an instance: AWS answers a dry run with an error in either case."""
        tried = {name: value for name, value in request.items() if name != "ClientToken"}

        def dry() -> None:
            with excused(f"DryRunOperation|{NO_CAPACITY.pattern}"):
                self._client("ec2", region).run_instances(**tried, DryRun=True)

        answer("EC2", dry)

    def _start(self, job: LaunchJob, config: bytes, folder: Path, tried: Tried) -> tuple[str, str]:
        """Region and id of a new instance, or of the one whose answer was lost."""
        pending = [tried.pending] if tried.pending else []
        gone = {tuple(line.split()[:3]) for line in tried.refused}
        rest = [one for one in self._attempts(job.needs) if tuple(str(one).split()) not in gone and one not in pending]
        for attempt in [*pending, *rest][: max(1, MOST_ATTEMPTS - len(tried.refused))]:
            request = self._request(job, config, attempt, tried)
            if tried.pending is None:
                tried = attempts.write(folder, (*tried.lines, str(attempt)))
            outcome = answer(str(attempt), partial(self._asked, request, attempt.region))
            if outcome.startswith("i-"):
                return attempt.region, outcome
            tried = attempts.write(folder, (*tried.lines[:-1], f"{attempt} {outcome}"))
        attempts.write(folder, (*tried.lines, EXHAUSTED))
        finding = f"gets no instance in {', '.join(self._places)}: {'; '.join(tried.refused)}"
        remedy = "try again later, allow more families or another region in [launch.aws], or ask for less"
        raise LaunchError(f"run {job.run_id}", finding, remedy, code="JPO-E768")

    def _asked(self, request: Mapping[str, Any], region: str) -> str:
        """The id of the instance of a request, or the code for which another type or market may do."""
        from botocore.exceptions import ClientError

        try:
            return str(self._client("ec2", region).run_instances(**request)["Instances"][0]["InstanceId"])
        except ClientError as error:
            if code_of(error) == "IdempotentParameterMismatch":  # it was asked for before, and settings were changed since
                if found := self._found("client-token", request["ClientToken"]):
                    return found[1]
                remedy = "run the same command again soon, or give the run another id"
                raise LaunchError("EC2", "has this run under other settings", remedy, code="JPO-E754") from None
            if not NO_CAPACITY.fullmatch(code_of(error)):
                raise
            return code_of(error)

    def _found(self, name: str, value: str) -> tuple[str, str] | None:
        """Region and id of the instance of a tag or token, started before."""
        wanted, found = [{"Name": name, "Values": [value]}], list[tuple[Any, str, str]]()
        for region in self._places:
            reservations = self._listed(region, "describe_instances", "Reservations", wanted)
            instances = [one for reservation in reservations for one in reservation["Instances"]]
            found += [(one["LaunchTime"], region, str(one["InstanceId"])) for one in instances]
        return min(found)[1:] if found else None

    def _until_known(self, region: str, instance_id: str) -> None:
        """Wait until EC2 knows an instance that it has just started, or it would be taken for one that is gone."""
        from botocore.exceptions import WaiterError

        def wait() -> None:
            try:
                self._client("ec2", region).get_waiter("instance_exists").wait(InstanceIds=[instance_id])
            except (WaiterError, ValueError) as error:  # of its expressions, where the answer is none of EC2
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
    places = in_regions(table, here)
    return AwsLauncher(places, offers_of(places, here), here.clock, here.ledger)


def _engine_id(region: str, instance_id: str, home: Home) -> str:
    return f"{region}/{instance_id}/{home.bucket}/{home.key}"


def _read_id(engine_id: str) -> tuple[str, str, Home]:
    """Region, instance and home in an id that `submit` gave."""
    region, instance_id, name, key = ([*engine_id.split("/", 3), "", "", ""])[:4]
    return region, instance_id, Home(region, name, key)


def _in_words(needs: Needs) -> str:
    gpus = f"{needs.gpus} GPUs" + (f" of type {needs.gpu_type}" if needs.gpus and needs.gpu_type else "")
    cpus = f"{needs.cpus:g} CPUs" if needs.cpus else ""
    memory = f"{needs.memory_gib:g} GiB" if needs.memory_gib else ""
    return ", ".join(text for text in (gpus, cpus, memory) if text)
