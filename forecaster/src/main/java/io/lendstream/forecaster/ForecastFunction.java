package io.lendstream.forecaster;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.ServiceForecaster;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each service's forecaster and lets it speak: with the record that completes a step, or, where a source has fallen
 * silent, when event time says that it is not to be waited for any longer.
 */
final class ForecastFunction extends KeyedProcessFunction<String, RequestRate, DemandForecast> {
    private static final long serialVersionUID = 1L;

    private final String model;
    private final Duration step;
    private final ArrayList<Duration> horizons;
    private final Duration forgetAfter;

    private transient @Nullable Store store;

    /** What belongs to the task and not to the job's description. */
    private record Store(
            ForecastSettings settings,
            ValueState<ServiceForecaster> forecaster,
            ValueState<Long> timer,
            Counter forecasts,
            Counter duplicates,
            Counter late) {}

    ForecastFunction(ForecastSettings settings, Duration forgetAfter) {
        model = settings.model();
        step = settings.step();
        horizons = new ArrayList<>(settings.horizons());
        this.forgetAfter = forgetAfter;
    }

    @Override
    public void open(OpenContext context) {
        var metrics = getRuntimeContext().getMetricGroup();
        store = new Store(
                new ForecastSettings(model, step, horizons),
                getRuntimeContext()
                        .getState(forgotten(new ValueStateDescriptor<>("forecaster", ForecasterStateSerializer.TYPE))),
                getRuntimeContext().getState(forgotten(new ValueStateDescriptor<>("closes-by", Types.LONG))),
                metrics.counter("forecasts"),
                metrics.counter("duplicateRecords"),
                metrics.counter("lateRecords"));
    }

    private <T> ValueStateDescriptor<T> forgotten(ValueStateDescriptor<T> state) {
        state.enableTimeToLive(StateTtlConfig.newBuilder(forgetAfter)
                .cleanupFullSnapshot()
                .cleanupIncrementally(10, false)
                .build());
        return state;
    }

    @Override
    public void processElement(RequestRate rate, Context context, Collector<DemandForecast> out) throws Exception {
        Store here = store();
        ServiceForecaster forecaster = here.forecaster.value();
        if (forecaster == null || !forecaster.settings().equals(here.settings)) {
            // other steps or another model: nothing that was learned fits
            forecaster = new ServiceForecaster(here.settings, rate.service(), rate.domain());
        }
        long duplicates = forecaster.duplicates();
        long late = forecaster.late();
        Optional<DemandForecast> forecast = forecaster.observe(rate);
        here.duplicates.inc(forecaster.duplicates() - duplicates);
        here.late.inc(forecaster.late() - late);
        leave(here, forecaster, forecast, context.timerService(), out);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<DemandForecast> out) throws Exception {
        Store here = store();
        here.timer.clear();
        ServiceForecaster forecaster = here.forecaster.value();
        if (forecaster != null) {
            Optional<DemandForecast> forecast = forecaster.advanceTo(Instant.ofEpochMilli(timestamp));
            leave(here, forecaster, forecast, context.timerService(), out);
        }
    }

    private static void leave(
            Store here,
            ServiceForecaster forecaster,
            Optional<DemandForecast> forecast,
            TimerService timers,
            Collector<DemandForecast> out)
            throws Exception {
        here.forecaster.update(forecaster);
        Long set = here.timer.value();
        Long wanted = forecaster.closesBy().map(Instant::toEpochMilli).orElse(null);
        if (set != null && !set.equals(wanted)) {
            timers.deleteEventTimeTimer(set);
            here.timer.clear();
        }
        if (wanted != null && !wanted.equals(set)) {
            timers.registerEventTimeTimer(wanted);
            here.timer.update(wanted);
        }
        if (forecast.isPresent()) {
            here.forecasts.inc();
            out.collect(forecast.get());
        }
    }

    private Store store() {
        Store opened = store;
        if (opened == null) {
            throw new IllegalStateException("the forecast function was not opened");
        }
        return opened;
    }
}
