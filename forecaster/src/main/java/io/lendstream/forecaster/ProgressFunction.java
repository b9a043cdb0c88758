package io.lendstream.forecaster;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Reports how far a domain's forecasts have progressed. That is the earliest of its services' latest issue times,
 * ignoring services without a forecast for some steps. It measures the forecaster's lag. A reader that needs a
 * forecast must read the forecasts, because progress may arrive first.
 */
final class ProgressFunction extends KeyedProcessFunction<String, DemandForecast, Progress> {

    private static final long serialVersionUID = 1L;
    private static final int PATIENCE_STEPS = 10;
    private static final long SWEEP_MILLIS = Duration.ofHours(1).toMillis();

    private final Duration forgetAfter;
    private transient @Nullable Store store;

    /** The latest issue time of each service, the number of services at each of these times, and the last progress. */
    private record Store(MapState<String, Long> latest, MapState<Long, Integer> services, ValueState<Long> told) {}

    ProgressFunction(Duration forgetAfter) {
        this.forgetAfter = forgetAfter;
    }

    @Override
    public void open(OpenContext context) {
        // Flink's own cleaning reads the whole map with every forecast; dropForgotten does it here
        var ttl = StateTtlConfig.newBuilder(forgetAfter)
                .cleanupFullSnapshot()
                .disableCleanupInBackground()
                .build();
        var latest = new MapStateDescriptor<>("latest", Types.STRING, Types.LONG);
        latest.enableTimeToLive(ttl);
        store = new Store(
                getRuntimeContext().getMapState(latest),
                getRuntimeContext().getMapState(new MapStateDescriptor<>("services", Types.LONG, Types.INT)),
                getRuntimeContext().getState(new ValueStateDescriptor<>("told", Types.LONG)));
    }

    @Override
    public void processElement(DemandForecast forecast, Context context, Collector<Progress> out) throws Exception {
        Store here = store;
        if (here == null) {
            throw new IllegalStateException("the progress function is not open");
        }
        long issued = forecast.issuedAt().toEpochMilli();
        Long before = here.latest.get(forecast.service().value());
        if (before != null && before >= issued) {
            return;
        }
        here.latest.put(forecast.service().value(), issued);
        count(here.services, issued, 1);
        if (before != null) {
            count(here.services, before, -1);
        }
        long oldest = issued - PATIENCE_STEPS * forecast.step().toMillis();
        long reached = Long.MAX_VALUE;
        for (Iterator<Long> times = here.services.keys().iterator(); times.hasNext(); ) {
            long at = times.next();
            if (at >= oldest) {
                reached = Math.min(reached, at);
            } else {
                times.remove();
            }
        }
        Long told = here.told.value();
        if (told == null || reached > told) {
            here.told.update(reached);
            if (told != null && reached / SWEEP_MILLIS > told / SWEEP_MILLIS) {
                dropForgotten(here.latest);
            }
            out.collect(Progress.of(
                    ServiceName.FORECASTER,
                    new DomainId(context.getCurrentKey()),
                    Instant.ofEpochMilli(reached),
                    Map.of(),
                    Optional.empty()));
        }
    }

    /** Drops services that have been silent for too long: reading all entries makes Flink drop expired ones. */
    private static void dropForgotten(MapState<String, Long> latest) throws Exception {
        for (Iterator<String> services = latest.keys().iterator(); services.hasNext(); ) {
            services.next();
        }
    }

    private static void count(MapState<Long, Integer> services, long issued, int more) throws Exception {
        Integer now = services.get(issued);
        int then = (now == null ? 0 : now) + more;
        if (then > 0) {
            services.put(issued, then);
        } else {
            services.remove(issued);
        }
    }
}
