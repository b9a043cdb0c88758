package io.lendstream.load;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.service.text.Times;
import io.lendstream.simulator.World;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Plays a workload with the simulator's world. */
final class WorldPlay implements Play {
    private final World world;
    private final Instant start;
    private final Instant end;
    /** When decisions last woke replicas. */
    private final Map<GpuId, Instant> wokenAt = new HashMap<>();

    private Instant now;

    WorldPlay(World world, Workload workload) {
        this.world = world;
        this.start = workload.start();
        this.now = workload.start();
        this.end = latest(workload.demandEnd(), workload.lastTrainingArrival().orElse(start));
    }

    private static Instant latest(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    @Override
    public List<Event> advance(Instant to) {
        now = to;
        return world.advance(to);
    }

    @Override
    public Optional<Instant> nextEventAt() {
        return world.nextEventAt();
    }

    @Override
    public void take(Object record) {
        if (record instanceof Event event) {
            event.asNode().ifPresent(world::onNode);
            event.asReport().ifPresent(world::onReport);
        } else if (record instanceof Decision decision) {
            world.onDecision(decision);
            decision.action()
                    .asServe()
                    .filter(Action.Serve::warm)
                    .ifPresent(wake -> wake.gpus().forEach(gpu -> wokenAt.put(gpu, decision.at())));
        } else if (record instanceof Lease lease) {
            take(lease);
        }
    }

    /** Leases and decisions come by two topics: a sleep that a decision has ended changes nothing. */
    private void take(Lease lease) {
        if (!lease.since().isBefore(wokenAt.getOrDefault(lease.gpuId(), Instant.MIN))) {
            world.onOwner(lease.gpuId(), lease.owner(), lease.since());
        }
    }

    @Override
    public boolean finished() {
        return world.finished();
    }

    @Override
    public double share() {
        long all = Math.max(1, Duration.between(start, end).toSeconds());
        return Math.min(1, (double) Duration.between(start, now).toSeconds() / all);
    }

    @Override
    public String progress() {
        return "%s, %d %% of its time, %s".formatted(Times.at(now), Math.round(100 * share()), world.progress());
    }
}
