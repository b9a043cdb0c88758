package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.service.text.EventGist;
import io.lendstream.service.text.Times;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Actions, events and owners as text for people. GPUs have uuids here; GpuNames replaces them. */
final class EventText implements Action.Cases<String> {
    private static final EventText WORDS = new EventText();
    private static final Pattern ENDED = Pattern.compile("^\\S+ (finished|failed|was cancelled)\\b");
    /** As versions before wrote it. */
    private static final Pattern ENDED_BEFORE = Pattern.compile("^job \\S+ is (finished|failed|cancelled)\\b");

    private EventText() {}

    /** The action of a decision with its reason; a release has its own form. */
    static String of(Decision decision) {
        return decision.isRelease()
                ? "release %s (%s)"
                        .formatted(
                                decision.action().gpus().isEmpty()
                                        ? "all GPUs"
                                        : list(decision.action().gpus()),
                                ended(decision))
                : "%s. Reason: %s"
                        .formatted(of(decision.action()), decision.reason().text());
    }

    private static String ended(Decision decision) {
        String target = decision.action().target();
        if (decision.action().jobChange().isEmpty()) {
            return "service %s was deleted".formatted(target);
        }
        Matcher how = ENDED.matcher(decision.reason().text());
        Matcher before = ENDED_BEFORE.matcher(decision.reason().text());
        String end = how.find() ? how.group(1) : before.find() ? before.group(1) : "ended";
        return "job %s %s".formatted(target, end);
    }

    /** The action of a decision. */
    static String of(Action action) {
        return action.match(WORDS);
    }

    @Override
    public String lend(Action.Lend lend) {
        return "lend %s to job %s until %s; the job then has %s"
                .formatted(
                        list(lend.gpus()),
                        lend.job(),
                        Times.at(lend.until()),
                        gpus(lend.allocation().gpus()));
    }

    @Override
    public String reclaim(Action.Reclaim reclaim) {
        return "reclaim %s from job %s by %s; the job keeps %s"
                .formatted(
                        list(reclaim.gpus()),
                        reclaim.job(),
                        Times.at(reclaim.by()),
                        gpus(reclaim.allocation().gpus()));
    }

    @Override
    public String resize(Action.Resize resize) {
        return "resize job %s to %s"
                .formatted(resize.job(), gpus(resize.allocation().gpus()));
    }

    @Override
    public String serve(Action.Serve serve) {
        return "serve %s on %s%s%s"
                .formatted(
                        serve.service(),
                        list(serve.gpus()),
                        serve.warm() ? " with warm replicas" : "",
                        shapes(serve.replicas()));
    }

    /** The shapes of replicas of several GPUs, such as {@code  in shapes tp4, in (prefill)}. */
    private static String shapes(List<ReplicaUnits> replicas) {
        return replicas.isEmpty()
                ? ""
                : " in shapes "
                        + replicas.stream()
                                .map(replica -> replica.role().isPart()
                                        ? "%s (%s)"
                                                .formatted(
                                                        replica.shape(),
                                                        replica.role().inWords())
                                        : replica.shape())
                                .collect(Collectors.joining(", "));
    }

    @Override
    public String idle(Action.Idle idle) {
        return "stop replicas of %s on %s by %s".formatted(idle.service(), list(idle.gpus()), Times.at(idle.by()));
    }

    @Override
    public String adopt(Action.Adopt adopt) {
        return "take over %s on %s%s".formatted(adopt.tenant(), list(adopt.gpus()), shapes(adopt.replicas()));
    }

    @Override
    public String batching(Action.Batching batching) {
        return "batch %s: %s"
                .formatted(
                        batching.service(),
                        batching.buckets().stream()
                                .map(bucket -> "%d up to size %.0f".formatted(bucket.maxBatch(), bucket.upToSize()))
                                .collect(Collectors.joining(", ")));
    }

    @Override
    public String repartition(Action.Repartition repartition) {
        return "cut %s into %s"
                .formatted(
                        list(repartition.gpus()),
                        repartition.profiles().isEmpty() ? "whole GPUs" : String.join(" ", repartition.profiles()));
    }

    @Override
    public String renew(Action.Renew renew) {
        return "renew %s until %s".formatted(Reason.counted(renew.gpus().size(), "loan"), Times.at(renew.until()));
    }

    @Override
    public String hold(Action.Hold hold) {
        return hold.queue()
                .map(queue -> "hold: no quota left in queue " + queue)
                .or(() -> hold.ability().map(ability -> "hold: drivers lack " + ability))
                .orElse("hold: no change");
    }

    /** A summary of an event. */
    static String gist(Event event) {
        return EventGist.of(event);
    }

    /** The kind of a command and its reason. */
    static String order(ControlCommand command) {
        return EventGist.order(command);
    }

    /** The kind of an event, such as {@code request-rate}. */
    static String kind(Event event) {
        return EventGist.kind(event);
    }

    /** The owner of a GPU. */
    static String of(Owner owner) {
        return owner.match(new OwnerText());
    }

    /** The owner of a GPU, and who uses it too. */
    static String of(Lease lease) {
        return of(lease.owner())
                + lease.intruders().map(others -> ", " + others.inWords()).orElse("");
    }

    /** Why a GPU that others use may have its last tenant still; empty if nothing says so. */
    static Optional<String> suspicion(Lease lease) {
        return lease.owner()
                .asQuarantined()
                .flatMap(Owner.Quarantined::suspicion)
                .map(why -> "%s: %s".formatted(lease.gpuId(), why));
    }

    static String list(List<GpuId> gpus) {
        return EventGist.list(gpus);
    }

    static String lower(Enum<?> word) {
        return EventGist.lower(word);
    }

    private static String gpus(List<GpuId> gpus) {
        return gpus.isEmpty() ? "no GPU" : Reason.counted(gpus.size(), "GPU");
    }
}
