package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

class ForecastPropertyTest {
    private static final List<Duration> HORIZONS = List.of(Duration.ofMinutes(10), Duration.ofMinutes(60));

    /** Steps of ten minutes, so that a few hundred of them reach into the second day; -1 stands for a missing one. */
    @Seeds(60)
    void quantilesNeverCrossAndAreFiniteAndNeverNegative(RandomValues values) {
        double scale = values.oneOf(List.of(1e-6, 0.01, 1.0, 1000.0, 1e8));
        List<Integer> series = values.listOf(1, 400, () -> values.intBetween(-1, 20));
        var model = Models.create(new ForecastSettings(anyModel(values), Duration.ofMinutes(10), HORIZONS));
        for (int step = 0; step < series.size(); step++) {
            feed(model, step, series.get(step), scale);
            for (HorizonQuantiles line : model.forecast()) {
                // the record's constructor refuses anything else
                assertThat(line.p99()).isFinite();
            }
        }
    }

    @Seeds(60)
    void goesOnFromItsSavedStateAsIfNothingHadHappened(RandomValues values) {
        List<Integer> series = values.listOf(2, 400, () -> values.intBetween(-1, 20));
        int cut = values.intBetween(0, series.size() - 1);
        var settings = new ForecastSettings(anyModel(values), Duration.ofMinutes(10), HORIZONS);
        var model = Models.create(settings);
        var restored = Models.create(settings);
        for (int step = 0; step < series.size(); step++) {
            if (step == cut) {
                var out = new StateWriter();
                model.save(out);
                var in = new StateReader(out.bytes());
                restored.load(in);
                in.end();
                assertThat(restored.forecast()).isEqualTo(model.forecast());
            }
            feed(model, step, series.get(step), 1);
            if (step >= cut) {
                feed(restored, step, series.get(step), 1);
                assertThat(restored.forecast()).isEqualTo(model.forecast());
                assertThat(restored.recentError()).isEqualTo(model.recentError());
            }
        }
    }

    @Seeds(100)
    void duplicatesChangeNothing(RandomValues values) {
        Random random = values.random();
        List<RequestRate> once = rounds(arrivals(values), 2, random);
        List<RequestRate> twice = new ArrayList<>();
        for (int i = 0; i < once.size(); i++) {
            twice.add(once.get(i));
            twice.add(once.get(random.nextInt(i + 1)));
        }

        assertThat(forecasts(twice)).isEqualTo(forecasts(once));
    }

    @Seeds(100)
    void theOrderOfSourcesIsIrrelevant(RandomValues values) {
        List<Integer> arrivals = arrivals(values);

        assertThat(forecasts(rounds(arrivals, 3, values.random())))
                .isEqualTo(forecasts(rounds(arrivals, 3, new Random(0))));
    }

    @Seeds(50)
    void aServiceGoesOnFromItsSnapshot(RandomValues values) {
        List<RequestRate> rates = rounds(arrivals(values), 2, values.random());
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

    private static List<Integer> arrivals(RandomValues values) {
        return values.listOf(3, 60, () -> values.intBetween(0, 500));
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

    private static String anyModel(RandomValues values) {
        return values.oneOf(Models.all()).name();
    }
}
