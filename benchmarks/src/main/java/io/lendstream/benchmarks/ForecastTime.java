package io.lendstream.benchmarks;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** The time of a model for a step of demand with its forecasts, and its state size. Uses the settings of the job. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class ForecastTime {
    private static final int DAY_MINUTES = 1440;
    /** The number of steps after which the model has learned its seasons and its cost is constant. */
    private static final int LEARNED = 10 * DAY_MINUTES;

    private ForecastModel model = Models.create(ForecastSettings.DEFAULT);
    private long step;

    @Setup(Level.Iteration)
    public void learn() {
        model = Models.create(ForecastSettings.DEFAULT);
        for (step = 0; step < LEARNED; step++) {
            observe();
        }
    }

    @Benchmark
    public List<HorizonQuantiles> updateAndForecast() {
        observe();
        step++;
        return model.forecast();
    }

    private void observe() {
        model.observe(step, 10 + step * 7919L % 13 + 5 * Math.sin(2 * Math.PI * step / DAY_MINUTES));
    }

    /** Microseconds of an update with its forecasts. */
    static double micros() {
        try {
            return new Runner(new OptionsBuilder()
                            .include(ForecastTime.class.getName())
                            .build())
                    .runSingle()
                    .getPrimaryResult()
                    .getScore();
        } catch (RunnerException e) {
            throw new IllegalStateException("the benchmark could not be run: " + e.getMessage(), e);
        }
    }

    /** The bytes of a trained model's state. */
    static int stateBytes() {
        var learned = new ForecastTime();
        learned.learn();
        StateWriter state = new StateWriter();
        learned.model.save(state);
        return state.bytes().length;
    }
}
