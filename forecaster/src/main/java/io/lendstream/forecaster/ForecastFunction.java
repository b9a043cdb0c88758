package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.ServiceForecaster;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each service's forecaster and lets it speak: with the record that completes a step; at once, where
 * demand has left its band; or, where a source has fallen silent, when event time says that it is not to be waited for any
 * longer. Where the service is declared it speaks in GPUs, too, by the declaration that was read last.
 */
final class ForecastFunction extends KeyedCoProcessFunction<String, RequestRate, Declared, DemandForecast> {
    private static final long serialVersionUID = 1L;

    private final String model;
    private final Duration step;
    private final ArrayList<Duration> horizons;
    private final Duration forgetAfter;
    private final boolean early;
    private final int serviceMetrics;
    private final RateReader.Clock clock;

    private transient @Nullable Store store;

    /** What belongs to the task and not to the job's description. */
    private record Store(
            ForecastSettings settings,
            ValueState<ServiceForecaster> forecaster,
            ValueState<Long> timer,
            ValueState<ReplicaCapacity> capacity,
            ForecastMetrics metrics) {}

    /**
     * @param forgetAfter silence after which nothing is kept of a service
     * @param early whether demand that leaves its band is told of before the step is over
     * @param serviceMetrics of how many services a task shows numbers of their own
     */
    ForecastFunction(
            ForecastSettings settings,
            Duration forgetAfter,
            boolean early,
            int serviceMetrics,
            RateReader.Clock clock) {
        model = settings.model();
        step = settings.step();
        horizons = new ArrayList<>(settings.horizons());
        this.forgetAfter = forgetAfter;
        this.early = early;
        this.serviceMetrics = serviceMetrics;
        this.clock = clock;
    }

    @Override
    public void open(OpenContext context) {
        store = new Store(
                new ForecastSettings(model, step, horizons),
                getRuntimeContext()
                        .getState(forgotten(new ValueStateDescriptor<>("forecaster", ForecasterStateSerializer.TYPE))),
                getRuntimeContext().getState(forgotten(new ValueStateDescriptor<>("closes-by", Types.LONG))),
                // not forgotten: a declaration comes once, however long a service is silent; a tombstone ends it
                getRuntimeContext().getState(new ValueStateDescriptor<>("replica-capacity", CapacitySerializer.TYPE)),
                new ForecastMetrics(getRuntimeContext().getMetricGroup(), clock, serviceMetrics, forgetAfter));
    }

    private <T> ValueStateDescriptor<T> forgotten(ValueStateDescriptor<T> state) {
        state.enableTimeToLive(StateTtlConfig.newBuilder(forgetAfter)
                .cleanupFullSnapshot()
                // one at each look: whoever looks pays for it, and all of them are met often enough
                .cleanupIncrementally(1, false)
                .build());
        return state;
    }

    @Override
    public void processElement1(RequestRate rate, Context context, Collector<DemandForecast> out) throws Exception {
        Store here = store();
        ServiceForecaster known = here.forecaster.value();
        // other steps or another model: nothing that was learned fits
        ServiceForecaster forecaster = known != null && known.settings().equals(here.settings)
                ? known
                : new ServiceForecaster(here.settings, rate.service(), rate.domain());
        long duplicates = forecaster.duplicates();
        long late = forecaster.late();
        Optional<DemandForecast> forecast =
                forecaster.observe(rate).or(() -> early ? forecaster.early() : Optional.empty());
        here.metrics.took(
                forecaster,
                forecaster.duplicates() - duplicates,
                forecaster.late() - late,
                context.timerService().currentWatermark());
        leave(here, forecaster, forecast, context.timerService(), out);
    }

    @Override
    public void processElement2(Declared declared, Context context, Collector<DemandForecast> out) throws Exception {
        ValueState<ReplicaCapacity> capacity = store().capacity;
        if (declared.capacity().isPresent()) {
            capacity.update(declared.capacity().get());
        } else {
            capacity.clear();
        }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<DemandForecast> out) throws Exception {
        Store here = store();
        here.timer.clear();
        ServiceForecaster forecaster = here.forecaster.value();
        if (forecaster == null) {
            return;
        }
        if (!forecaster.settings().equals(here.settings)) {
            here.forecaster.clear();
            return;
        }
        if (forecaster.closesBy().map(Instant::toEpochMilli).orElse(Long.MAX_VALUE) > timestamp) {
            setTimer(here, forecaster, context.timerService());
            return;
        }
        Optional<DemandForecast> forecast = forecaster.advanceTo(Instant.ofEpochMilli(timestamp));
        here.metrics.took(forecaster, 0, 0, context.timerService().currentWatermark());
        leave(here, forecaster, forecast, context.timerService(), out);
    }

    private static void leave(
            Store here,
            ServiceForecaster forecaster,
            Optional<DemandForecast> forecast,
            TimerService timers,
            Collector<DemandForecast> out)
            throws Exception {
        here.forecaster.update(forecaster);
        setTimer(here, forecaster, timers);
        if (forecast.isPresent()) {
            ReplicaCapacity capacity = here.capacity.value();
            DemandForecast told = capacity == null ? forecast.get() : capacity.inGpus(forecast.get());
            here.metrics.issued(told);
            out.collect(told);
        }
    }

    /**
     * Sees to it that event time comes by when the step has to be closed, or sooner: most records put that off, and a timer that
     * comes too soon is set anew then, once and not with each of them.
     */
    private static void setTimer(Store here, ServiceForecaster forecaster, TimerService timers) throws Exception {
        Long set = here.timer.value();
        long wanted = forecaster.closesBy().map(Instant::toEpochMilli).orElse(Long.MAX_VALUE);
        if (wanted == Long.MAX_VALUE || (set != null && set <= wanted)) {
            return;
        }
        if (set != null) {
            timers.deleteEventTimeTimer(set);
        }
        timers.registerEventTimeTimer(wanted);
        here.timer.update(wanted);
    }

    private Store store() {
        Store opened = store;
        if (opened == null) {
            throw new IllegalStateException("the forecast function was not opened");
        }
        return opened;
    }
}
