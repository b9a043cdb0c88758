package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class ForecastPropertyTest {
    private static final List<Duration> HORIZONS = List.of(Duration.ofMinutes(10), Duration.ofMinutes(60));

    /** Steps of ten minutes, so that a few hundred of them reach into the second day; -1 stands for a missing one. */
    @Property(tries = 60)
    void quantilesNeverCrossAndAreFiniteAndNeverNegative(
            @ForAll("models") String name,
            @ForAll("demand") double scale,
            @ForAll @Size(min = 1, max = 400) List<@IntRange(min = -1, max = 20) Integer> series) {
        var model = Models.create(new ForecastSettings(name, Duration.ofMinutes(10), HORIZONS));
        for (int step = 0; step < series.size(); step++) {
            feed(model, step, series.get(step), scale);
            for (HorizonQuantiles line : model.forecast()) {
                // the record's constructor refuses anything else
                assertThat(line.p99()).isFinite();
            }
        }
    }

    @Property(tries = 60)
    void goesOnFromItsSavedStateAsIfNothingHadHappened(
            @ForAll("models") String name,
            @ForAll @Size(min = 2, max = 400) List<@IntRange(min = -1, max = 20) Integer> series,
            @ForAll @IntRange(min = 0, max = 399) int cut) {
        var settings = new ForecastSettings(name, Duration.ofMinutes(10), HORIZONS);
        var model = Models.create(settings);
        var restored = Models.create(settings);
        for (int step = 0; step < series.size(); step++) {
            if (step == cut % series.size()) {
                var out = new StateWriter();
                model.save(out);
                var in = new StateReader(out.bytes());
                restored.load(in);
                in.end();
                assertThat(restored.forecast()).isEqualTo(model.forecast());
            }
            feed(model, step, series.get(step), 1);
            if (step >= cut % series.size()) {
                feed(restored, step, series.get(step), 1);
                assertThat(restored.forecast()).isEqualTo(model.forecast());
                assertThat(restored.recentError()).isEqualTo(model.recentError());
            }
        }
    }

    @Property(tries = 100)
    void duplicatesChangeNothing(
            @ForAll @Size(min = 3, max = 60) List<@IntRange(max = 500) Integer> arrivals, @ForAll Random random) {
        List<RequestRate> once = rounds(arrivals, 2, random);
        List<RequestRate> twice = new ArrayList<>();
        for (int i = 0; i < once.size(); i++) {
            twice.add(once.get(i));
            twice.add(once.get(random.nextInt(i + 1)));
        }

        assertThat(forecasts(twice)).isEqualTo(forecasts(once));
    }

    @Property(tries = 100)
    void theOrderOfSourcesIsIrrelevant(
            @ForAll @Size(min = 3, max = 60) List<@IntRange(max = 500) Integer> arrivals, @ForAll Random random) {
        assertThat(forecasts(rounds(arrivals, 3, random))).isEqualTo(forecasts(rounds(arrivals, 3, new Random(0))));
    }

    @Property(tries = 50)
    void aServiceGoesOnFromItsSnapshot(
            @ForAll @Size(min = 3, max = 60) List<@IntRange(max = 500) Integer> arrivals, @ForAll Random random) {
        List<RequestRate> rates = rounds(arrivals, 2, random);
        var kept = forecaster();
        var moved = kept;
        for (RequestRate rate : rates) {
            moved = ServiceForecaster.restore(moved.snapshot());
            assertThat(moved.observe(rate)).isEqualTo(kept.observe(rate));
            assertThat(moved.closesBy()).isEqualTo(kept.closesBy());
            moved = ServiceForecaster.restore(moved.snapshot());
            assertThat(moved.snapshot()).isEqualTo(kept.snapshot());
        }
    }

    /** Every source's windows in order, the sources of each window in any order. */
    private static List<RequestRate> rounds(List<Integer> arrivals, int sources, Random random) {
        List<Rates> all = new ArrayList<>();
        for (int source = 0; source < sources; source++) {
            all.add(Rates.of("source-" + source));
        }
        List<RequestRate> rates = new ArrayList<>();
        for (int count : arrivals) {
            List<RequestRate> round = new ArrayList<>();
            for (int source = 0; source < sources; source++) {
                round.add(all.get(source).next((long) count * (source + 1)));
            }
            Collections.shuffle(round, random);
            rates.addAll(round);
        }
        return rates;
    }

    private static List<DemandForecast> forecasts(List<RequestRate> rates) {
        var forecaster = forecaster();
        return rates.stream().map(forecaster::observe).flatMap(Optional::stream).toList();
    }

    private static ServiceForecaster forecaster() {
        return new ServiceForecaster(ForecastSettings.DEFAULT, Rates.SERVICE, Rates.DOMAIN);
    }

    private static void feed(ForecastModel model, int step, int value, double scale) {
        if (value < 0) {
            model.miss(step);
        } else {
            model.observe(step, value * scale);
        }
    }

    @Provide
    Arbitrary<String> models() {
        return Arbitraries.of(Models.all().stream().map(Models.Info::name).toList());
    }

    @Provide
    Arbitrary<Double> demand() {
        return Arbitraries.of(1e-6, 0.01, 1.0, 1000.0, 1e8);
    }
}
