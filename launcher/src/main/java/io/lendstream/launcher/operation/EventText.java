package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Actions, events and owners in words. */
final class EventText implements Action.Cases<String> {
    private static final EventText WORDS = new EventText();
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private EventText() {}

    /** The time of day, in UTC. */
    static String clock(Instant at) {
        return CLOCK.format(at);
    }

    /** What a decision asks for. */
    static String of(Action action) {
        return action.match(WORDS);
    }

    @Override
    public String lend(Action.Lend lend) {
        return "lend %s to job %s until %s, which then has %s"
                .formatted(
                        list(lend.gpus()),
                        lend.job(),
                        lend.until(),
                        gpus(lend.allocation().gpus()));
    }

    @Override
    public String reclaim(Action.Reclaim reclaim) {
        return "reclaim %s from job %s by %s, which goes on with %s"
                .formatted(
                        list(reclaim.gpus()),
                        reclaim.job(),
                        reclaim.by(),
                        gpus(reclaim.allocation().gpus()));
    }

    @Override
    public String resize(Action.Resize resize) {
        return "resize job %s to %s"
                .formatted(resize.job(), gpus(resize.allocation().gpus()));
    }

    @Override
    public String serve(Action.Serve serve) {
        return "serve %s on %s%s"
                .formatted(serve.service(), list(serve.gpus()), serve.warm() ? ", where replicas are warm" : "");
    }

    @Override
    public String idle(Action.Idle idle) {
        return "stop replicas of %s on %s by %s".formatted(idle.service(), list(idle.gpus()), idle.by());
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
        return "renew %s until %s".formatted(Reason.counted(renew.gpus().size(), "loan"), renew.until());
    }

    @Override
    public String hold(Action.Hold hold) {
        return "hold: nothing is done";
    }

    /** What an event says, in short. */
    static String gist(Event event) {
        return event.match(new EventGist());
    }

    /** What a command orders, and why. */
    static String order(ControlCommand command) {
        return lower(command.kind()) + (command.reason().isEmpty() ? "" : " (" + command.reason() + ")");
    }

    /** What kind of event it is: {@code request-rate}. */
    static String kind(Event event) {
        return event.getClass()
                .getSimpleName()
                .replaceAll("(?<=[a-z])(?=[A-Z])", "-")
                .toLowerCase(Locale.ROOT);
    }

    /** Who has a GPU. */
    static String of(Owner owner) {
        return owner.match(new OwnerText());
    }

    static String list(List<GpuId> gpus) {
        return gpus.stream().map(GpuId::value).collect(Collectors.joining(", "));
    }

    static String lower(Enum<?> word) {
        return word.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String gpus(List<GpuId> gpus) {
        return gpus.isEmpty() ? "no GPU" : Reason.counted(gpus.size(), "GPU");
    }
}
