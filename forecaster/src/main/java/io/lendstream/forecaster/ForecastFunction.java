package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.ServiceForecaster;
import java.io.IOException;
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
 * Keeps each service's forecaster and publishes its forecasts. A forecast follows with the record that completes a
 * step, early if demand is clearly above its p99, or when event time shows that a silent source should not be waited
 * for. For a declared service the forecast is also given in GPUs, and in replicas of each role, by the declaration read
 * last.
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

    /** Parts of the task, which are not serialized with the job. */
    private record Store(
            ForecastSettings settings,
            ValueState<ServiceForecaster> forecaster,
            ValueState<Long> timer,
            ValueState<ReplicaCapacity> capacity,
            ValueState<ReplicaCapacity> roles,
            ForecastMetrics metrics) {
        private void declare(ReplicaCapacity declared) throws IOException {
            capacity.update(declared);
            if (declared.roles().isEmpty()) {
                roles.clear();
            } else {
                roles.update(declared);
            }
        }

        private void forget() {
            capacity.clear();
            roles.clear();
        }

        /** As declared, with roles if there are any; state of earlier versions has none. */
        private Optional<ReplicaCapacity> declared() throws IOException {
            ReplicaCapacity withRoles = roles.value();
            return withRoles == null ? Optional.ofNullable(capacity.value()) : Optional.of(withRoles);
        }
    }

    /**
     * @param forgetAfter silence after which all state of a service is dropped
     * @param early whether to publish an early forecast when demand is clearly above its p99
     * @param serviceMetrics number of services with metrics of their own in each task
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
                // does not expire: a declaration arrives once, however long a service is silent; a tombstone ends it
                getRuntimeContext().getState(new ValueStateDescriptor<>("replica-capacity", CapacitySerializer.TYPE)),
                getRuntimeContext().getState(new ValueStateDescriptor<>("replica-roles", RolesSerializer.TYPE)),
                new ForecastMetrics(getRuntimeContext().getMetricGroup(), clock, serviceMetrics, forgetAfter));
    }

    private <T> ValueStateDescriptor<T> forgotten(ValueStateDescriptor<T> state) {
        state.enableTimeToLive(StateTtlConfig.newBuilder(forgetAfter)
                .cleanupFullSnapshot()
                // expire one entry per access; every key is accessed often enough
                .cleanupIncrementally(1, false)
                .build());
        return state;
    }

    @Override
    public void processElement1(RequestRate rate, Context context, Collector<DemandForecast> out) throws Exception {
        Store here = store();
        ServiceForecaster known = here.forecaster.value();
        // the step or the model has changed: nothing learned applies
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
        if (declared.capacity().isPresent()) {
            store().declare(declared.capacity().get());
        } else {
            store().forget();
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
            DemandForecast told = here.declared()
                    .map(capacity -> capacity.inGpus(forecast.get()))
                    .orElse(forecast.get());
            here.metrics.issued(told);
            out.collect(told);
        }
    }

    /**
     * Sets the timer that closes the step, or an earlier one. Most records postpone it; a timer that fires too early
     * is then set once more, instead of once per record.
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
            throw new IllegalStateException("the forecast function is not open");
        }
        return opened;
    }
}
