package io.lendstream.agent.gpu;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.NodeStatus;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Plays recorded snapshots, one at each read. */
final class RecordedProbe implements GpuProbe {
    private final Path file;
    private final List<GpuSnapshot> sights;
    private final boolean loop;
    private int next;
    private List<Gpu> lastSeen = List.of();
    private Optional<String> paused = Optional.empty();

    RecordedProbe(Path file, List<GpuSnapshot> sights, boolean loop) {
        this.file = file;
        this.sights = List.copyOf(sights);
        this.loop = loop;
    }

    @Override
    public synchronized GpuSnapshot look(Instant now) {
        if (paused.isPresent()) {
            return GpuSnapshot.without(NodeStatus.PAUSED, paused.get(), lastSeen, Optional.empty());
        }
        if (next == sights.size() && !loop) {
            String why = "recording %s ended after %d snapshots".formatted(file, sights.size());
            return GpuSnapshot.without(NodeStatus.UNAVAILABLE, why, lastSeen, Optional.empty());
        }
        GpuSnapshot sight = sights.get(next % sights.size());
        next = next % sights.size() + 1;
        lastSeen = sight.gpus();
        return sight;
    }

    @Override
    public synchronized void pause(String why) {
        paused = Optional.of("paused: " + why);
    }

    @Override
    public synchronized void resume() {
        paused = Optional.empty();
    }

    @Override
    public void close() {
        // nothing is open
    }
}
