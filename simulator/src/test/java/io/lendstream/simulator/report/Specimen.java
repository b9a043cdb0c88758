package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Sightings.at;
import static io.lendstream.simulator.report.Sightings.decision;
import static io.lendstream.simulator.report.Sightings.finished;
import static io.lendstream.simulator.report.Sightings.forecast;
import static io.lendstream.simulator.report.Sightings.hold;
import static io.lendstream.simulator.report.Sightings.job;
import static io.lendstream.simulator.report.Sightings.lease;
import static io.lendstream.simulator.report.Sightings.lend;
import static io.lendstream.simulator.report.Sightings.lent;
import static io.lendstream.simulator.report.Sightings.rate;
import static io.lendstream.simulator.report.Sightings.reclaim;
import static io.lendstream.simulator.report.Sightings.service;
import static io.lendstream.simulator.report.Sightings.serving;

import io.lendstream.core.history.Verdict;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** An invented day of a cluster of 64 GPUs, to look at a report of the usual size. */
final class Specimen {
    private static final int SERVICES = 6;
    private static final int GPUS = 32;
    private static final int DAY_SECONDS = 86_400;

    private Specimen() {}

    static RunFacts day() {
        return new RunFacts(
                "Lendstream replay: deepboot-day, lendstream",
                List.of(
                        new Parameter("workload", "deepboot-day"),
                        new Parameter("policy", "lendstream"),
                        new Parameter("AFE", "on"),
                        new Parameter("nodes", "16"),
                        new Parameter("GPUs per node", "4"),
                        new Parameter("seed", "1"),
                        new Parameter("notice", "45 s")),
                List.of(run("lendstream, lending on", true), run("lendstream, lending off", false)));
    }

    private static ReportedRun run(String name, boolean lending) {
        Random random = new Random(7);
        FactsCollector collector = new FactsCollector(name, lending);
        for (int i = 0; i < GPUS; i++) {
            collector.take(lease("training-g" + i, new Owner.Free(), 0));
            collector.take(lease("inference-g" + i, new Owner.Free(), 0));
        }
        for (int s = 0; s < SERVICES; s++) {
            collector.take(service("service-" + s, 10));
        }
        List<String> owners = new ArrayList<>();
        for (int i = 0; i < GPUS; i++) {
            owners.add("free");
        }
        long sequence = 0;
        for (int seconds = 15; seconds <= DAY_SECONDS; seconds += 15) {
            for (int i = 0; i < GPUS; i++) {
                if ((seconds - 15) % 10_800 == 15 * i * 7) {
                    collector.take(lease("training-g" + i, new Owner.Training(new JobId("job-" + i / 4)), seconds));
                } else if ((seconds - 15) % 10_800 == 15 * i * 7 + 8_400 - 105 * i) {
                    collector.take(lease("training-g" + i, new Owner.Free(), seconds));
                }
            }
            int gpu = 0;
            for (int s = 0; s < SERVICES; s++) {
                double hour = seconds / 3600.0 + s * 1.7;
                double wave = 18 * (1.1 - Math.cos(hour / 24 * 2 * Math.PI)) * (s + 1) / SERVICES;
                double burst = random.nextInt(900) == 0 ? 3 : 1;
                long arrivals = Math.round(Math.max(0, wave * 15 * burst * (1 + 0.15 * random.nextGaussian())));
                collector.take(rate("service-" + s, "gateway", seconds, seconds, arrivals));
                if (seconds % 60 == 0) {
                    collector.take(forecast("service-" + s, seconds, wave * 1.02, wave * 1.45 + 1));
                }
                for (int r = 0; r < Math.ceil(arrivals / 15.0 / 7) && gpu < GPUS; r++, gpu++) {
                    sequence = give(collector, owners, gpu, "service-" + s, seconds, sequence);
                }
            }
            for (; gpu < GPUS && seconds % 60 == 0; gpu++) {
                sequence = give(collector, owners, gpu, lending ? "job-" + gpu / 4 : "free", seconds, sequence);
            }
            if (seconds % 300 == 0) {
                collector.take(decision(
                        ++sequence,
                        seconds,
                        hold("service-0"),
                        "enough",
                        "4 GPUs serve, 3 needed, nothing to reclaim"));
            }
        }
        List<Double> delays = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            delays.add(random.nextInt(20) == 0 ? Math.exp(random.nextGaussian() * 0.8 + (lending ? 1 : 0.7)) : 0);
        }
        for (int i = 0; i < 160; i++) {
            double submitted = random.nextInt(60_000);
            collector.take(job("job-" + i, submitted));
            collector.take(
                    finished("job-" + i, submitted + Math.exp(7.5 + random.nextGaussian()) * (lending ? 1 : 1.6)));
        }
        ReportedRun run = collector.facts();
        Training training = run.training();
        return run.withTruth(
                        new Training(
                                training.submitted(),
                                training.completed(),
                                training.completionSeconds(),
                                Optional.of(lending ? 412 : 377),
                                Optional.of(lending ? 0.741 : 0.583)),
                        new Inference(
                                run.inference().requests(),
                                Optional.of(lending ? 3127L : 2980L),
                                Delays.of(delays),
                                Delays.of(
                                        delays.stream().map(each -> each * 1.6).toList()),
                                Optional.of(lending ? 0.9987 : 0.9991)),
                        true)
                .withVerdict(
                        lending
                                ? new Verdict(91_240, 5_312, 9_800, 610, 588, List.of())
                                : new Verdict(
                                        60_100,
                                        3_001,
                                        4_000,
                                        0,
                                        0,
                                        List.of(new Violation(
                                                "one owner", "GPU <a1> had two owners at 2026-01-01T04:00:00Z"))));
    }

    private static long give(
            FactsCollector collector, List<String> owners, int gpu, String to, double seconds, long sequence) {
        String from = owners.get(gpu);
        if (from.equals(to)) {
            return sequence;
        }
        owners.set(gpu, to);
        String name = "inference-g" + gpu;
        long next = sequence;
        if (from.startsWith("job")) {
            collector.take(decision(
                    ++next,
                    seconds,
                    reclaim(from, name),
                    "demand",
                    "%s needs 5 GPUs within PT2M, 4 serve".formatted(to)));
            collector.take(lease(
                    name,
                    new Owner.Releasing(
                            new Tenant.Job(new JobId(from)), Sightings.id(next), at(seconds + 45), at(seconds + 90)),
                    seconds));
        } else if (from.startsWith("service")) {
            collector.take(lease(name, new Owner.Protected(new ServiceId(from), at(seconds + 120), 0), seconds));
        }
        if (to.startsWith("job")) {
            collector.take(decision(
                    ++next, seconds + 10, lend(to, name), "plan", "%s gains a GPU: speedup 1.9 to 2.3".formatted(to)));
        }
        Owner owner = to.startsWith("job") ? lent(to) : to.startsWith("service") ? serving(to) : new Owner.Free();
        collector.take(lease(name, owner, seconds + 14));
        return next;
    }
}
