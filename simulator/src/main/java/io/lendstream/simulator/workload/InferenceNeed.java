package io.lendstream.simulator.workload;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The GPUs that the services of a workload need, against the inference GPUs there are.
 *
 * @param services how many services there are
 * @param gpus inference GPUs
 * @param peak most GPUs that the services need at once; each service needs whole ones
 * @param peakShare the same if services could share GPUs
 * @param excessShare the part of all demand over time that is beyond the GPUs even if services could share them, so
 *     that no policy can answer it in time; a fraction
 * @param wholeExcessShare the same for whole GPUs: the GPU time beyond those that exist, of all GPU time needed
 * @param from start of the first time in which they need more than there are
 * @param to end of the last
 * @param length all such times together
 * @param longestExcess the longest time without a break in which demand is beyond the GPUs even if services could share
 *     them, so that the backlog of requests grows throughout
 */
public record InferenceNeed(
        int services,
        int gpus,
        int peak,
        double peakShare,
        double excessShare,
        double wholeExcessShare,
        Instant from,
        Instant to,
        Duration length,
        Duration longestExcess) {
    private static final Duration BIN = Duration.ofMinutes(5);
    private static final int MOST_BINS = 50_000;
    private static final int SAMPLES = 5;
    private static final double ROUNDING = 1e-9;

    /** The need of a workload on a number of inference GPUs. */
    public static InferenceNeed of(Workload workload, int gpus) {
        long length = Math.max(
                1, Duration.between(workload.start(), workload.demandEnd()).toMillis());
        long bin = Math.max(BIN.toMillis(), length / MOST_BINS + 1);
        int bins = (int) ((length + bin - 1) / bin);
        double[] share = new double[bins];
        double[] whole = new double[bins];
        for (ServiceLoad load : workload.loads()) {
            double[] need = need(load, workload.start(), bin, bins);
            for (int i = 0; i < bins; i++) {
                share[i] += need[i];
                whole[i] += Math.ceil(need[i] - ROUNDING);
            }
        }
        return over(workload, gpus, share, whole, bin);
    }

    private static InferenceNeed over(Workload workload, int gpus, double[] share, double[] whole, long bin) {
        Instant start = workload.start();
        double peak = 0;
        double peakShare = 0;
        Instant from = start;
        Instant to = start;
        long beyond = 0;
        for (int i = 0; i < whole.length; i++) {
            peak = Math.max(peak, whole[i]);
            peakShare = Math.max(peakShare, share[i]);
            if (whole[i] > gpus) {
                from = beyond == 0 ? start.plusMillis(i * bin) : from;
                to = start.plusMillis((i + 1) * bin);
                beyond++;
            }
        }
        return new InferenceNeed(
                workload.loads().size(),
                gpus,
                (int) Math.min(Integer.MAX_VALUE, peak),
                peakShare,
                excessShare(share, gpus),
                excessShare(whole, gpus),
                from,
                to,
                Duration.ofMillis(beyond * bin),
                Duration.ofMillis(longestExcess(share, gpus) * bin));
    }

    /** The most consecutive bins in which a need is beyond the GPUs. */
    private static long longestExcess(double[] need, int gpus) {
        long longest = 0;
        long length = 0;
        for (double each : need) {
            length = each > gpus + ROUNDING ? length + 1 : 0;
            longest = Math.max(longest, length);
        }
        return longest;
    }

    /** The part of a need over time that is beyond the GPUs; 0 where nothing is needed. */
    private static double excessShare(double[] need, int gpus) {
        double all = 0;
        double excess = 0;
        for (double each : need) {
            all += each;
            excess += Math.max(0, each - gpus - ROUNDING);
        }
        return all > 0 ? excess / all : 0;
    }

    /** GPUs that a service needs in each bin of time, on average over the bin. */
    private static double[] need(ServiceLoad load, Instant start, long bin, int bins) {
        double[] need = new double[bins];
        if (load.demand() instanceof Demand.Requests some) {
            double concurrency = load.service().replicaConcurrency().orElse(1);
            for (Request request : some.requests()) {
                long from = Math.max(0, Duration.between(start, request.at()).toMillis());
                long to = from + request.duration().toMillis();
                for (int i = (int) (from / bin); i < bins && i * bin < to; i++) {
                    need[i] += (Math.min(to, (i + 1) * bin) - Math.max(from, i * bin)) / concurrency / bin;
                }
            }
            return need;
        }
        Demand.Rates rates = (Demand.Rates) load.demand();
        double capacity = capacity(load.service());
        for (int i = 0; i < bins; i++) {
            for (int sample = 0; sample < SAMPLES; sample++) {
                Instant at = start.plusMillis(i * bin + sample * bin / SAMPLES);
                need[i] += at.isBefore(rates.end()) ? rates.at(at) / capacity / SAMPLES : 0;
            }
        }
        return need;
    }

    /**
     * Requests per second of a GPU, on the kind where a replica answers most if it does not take them as alike; in the
     * shapes where a GPU answers most, with GPUs for all roles.
     */
    private static double capacity(InferenceService service) {
        if (service.hasGroups()) {
            double gpus = 0;
            for (ReplicaRole role : service.hardware().roles()) {
                gpus += service.hardware().planned(role).stream()
                        .mapToDouble(shape -> shape.units()
                                / shape.likelyCapacityOn(Optional.empty(), service.replicaCapacityPerSecond()))
                        .min()
                        .orElse(0);
            }
            return gpus > 0 ? 1 / gpus : service.replicaCapacityPerSecond();
        }
        return service.capacities().stream()
                .mapToDouble(each -> service.likelyCapacityOn(Optional.of(each.kind())))
                .max()
                .orElse(service.replicaCapacityPerSecond());
    }

    /** Whether they would need more GPUs than there are even if they could share them, so that requests queue up. */
    public boolean queuesUp() {
        return peakShare > gpus + ROUNDING;
    }

    /** Whether services need more GPUs than there are. */
    public boolean exceeds() {
        return peak > gpus;
    }
}
