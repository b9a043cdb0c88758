package io.lendstream.simulator.replay;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.simulated.DevicePlugin;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.World;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Who picks the units on which tenants start: the driver of a replay, or a device plugin if the driver does not choose
 * units. The world knows tenants by the names of the actuator.
 */
final class UnitPicks {
    private final ReplaySettings settings;
    private final Optional<DevicePlugin> plugin;

    UnitPicks(ReplaySettings settings) {
        this.settings = settings;
        this.plugin = settings.abilities().choosesUnits()
                ? Optional.empty()
                : Optional.of(new DevicePlugin(new Random(settings.layout().seed()), false));
    }

    SimulatedDriver driver() {
        return plugin.map(picks -> new SimulatedDriver(settings.delays(), settings.abilities(), picks))
                .orElseGet(() -> new SimulatedDriver(settings.delays(), settings.abilities()));
    }

    void know(Node node) {
        plugin.ifPresent(picks -> picks.know(node));
    }

    /** The samples that are due; where a device plugin picks units, only they show which. */
    List<GpuTelemetry> samples(SimulatedNodes nodes, Instant now) {
        plugin.ifPresent(picks -> nodes.observe(picks.tenants()));
        List<GpuTelemetry> samples = nodes.samplesUntil(now);
        return plugin.map(picks -> samples.stream().map(picks::shown).toList()).orElse(samples);
    }

    /**
     * Gives a decision to the actuator. With it names of units may change, so that reports of earlier changes come
     * first, by the old names.
     */
    void take(
            Decision decision, Actuation actuation, World world, Instant now, Consumer<List<ActuationReport>> reports) {
        if (plugin.isPresent()) {
            reports.accept(actuation.catchUp(now));
        }
        List<ActuationReport> next = actuation.take(decision, now);
        plugin.ifPresent(picks -> picks.takeExchanges().forEach(world::exchange));
        reports.accept(next);
    }
}
