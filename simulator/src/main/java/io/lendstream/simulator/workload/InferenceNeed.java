package io.lendstream.simulator.workload;

import java.time.Duration;
import java.time.Instant;

/**
 * The GPUs that the services of a workload need, against the inference GPUs there are.
 *
 * @param services how many services there are
 * @param gpus inference GPUs
 * @param peak most GPUs that the services need at once, in whole replicas
 * @param peakShare the same if services could share GPUs; where whole replicas have no place, with the missing GPUs
 * @param excessShare the part of all demand over time that is beyond the GPUs even if services could share them, so
 *     that no policy can answer it in time; a fraction
 * @param wholeExcessShare the same for whole GPUs: the GPU time beyond those that exist, of all GPU time needed
 * @param from start of the first time in which they need more than there are
 * @param to end of the last
 * @param length all such times together
 * @param longestExcess the longest time without a break in which demand is beyond the GPUs even if services could share
 *     them, so that the backlog of requests grows throughout
 * @param hasGroups whether replicas have several GPUs, or roles
 * @param onBestKinds whether replicas differ by the kind of their GPUs; then each is counted on the kind where it
 *     answers most, though GPUs of all kinds count
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
        Duration longestExcess,
        boolean hasGroups,
        boolean onBestKinds) {
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
        double[] excess = new double[bins];
        for (ServiceLoad load : workload.loads()) {
            WholeReplicas replicas = WholeReplicas.of(load.service().plain(), gpus);
            double[] need = need(load, replicas.perGpu(), workload.start(), bin, bins);
            double most = replicas.areGroups() ? replicas.mostOn(gpus) : gpus;
            for (int i = 0; i < bins; i++) {
                share[i] += need[i];
                whole[i] += replicas.gpus(need[i]);
                excess[i] += Math.max(0, need[i] - most);
            }
        }
        for (int i = 0; i < bins; i++) {
            excess[i] = Math.max(excess[i], share[i] - gpus);
        }
        return over(workload, gpus, new NeedOverTime(share, whole, excess, bin));
    }

    /**
     * Needs in bins of time.
     *
     * @param share GPUs if services could share them
     * @param whole GPUs in whole replicas
     * @param excess GPUs beyond those that exist: what all services would need if they shared them, or what services
     *     need beyond all whole replicas that have a place
     * @param millis length of a bin
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record NeedOverTime(double[] share, double[] whole, double[] excess, long millis) {}

    private static InferenceNeed over(Workload workload, int gpus, NeedOverTime bins) {
        double[] share = bins.share;
        double[] whole = bins.whole;
        long bin = bins.millis;
        Instant start = workload.start();
        double peak = 0;
        double peakShare = 0;
        Instant from = start;
        Instant to = start;
        long beyond = 0;
        for (int i = 0; i < whole.length; i++) {
            peak = Math.max(peak, whole[i]);
            peakShare = Math.max(peakShare, bins.excess[i] > 0 ? gpus + bins.excess[i] : share[i]);
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
                excessShare(bins),
                wholeExcessShare(whole, gpus),
                from,
                to,
                Duration.ofMillis(beyond * bin),
                Duration.ofMillis(longestExcess(bins.excess) * bin),
                workload.loads().stream()
                        .anyMatch(load -> load.service().plain().hasGroups()),
                workload.loads().stream()
                        .anyMatch(load ->
                                WholeReplicas.differByKind(load.service().plain())));
    }

    /** The most consecutive bins in which a need is beyond the GPUs. */
    private static long longestExcess(double[] excess) {
        long longest = 0;
        long length = 0;
        for (double each : excess) {
            length = each > ROUNDING ? length + 1 : 0;
            longest = Math.max(longest, length);
        }
        return longest;
    }

    /** The part of a need over time that is beyond the GPUs; 0 where nothing is needed. */
    private static double excessShare(NeedOverTime bins) {
        double all = 0;
        double excess = 0;
        for (int i = 0; i < bins.share.length; i++) {
            all += bins.share[i];
            excess += Math.max(0, bins.excess[i] - ROUNDING);
        }
        return all > 0 ? excess / all : 0;
    }

    private static double wholeExcessShare(double[] need, int gpus) {
        double all = 0;
        double excess = 0;
        for (double each : need) {
            all += each;
            excess += Math.max(0, each - gpus - ROUNDING);
        }
        return all > 0 ? excess / all : 0;
    }

    /** GPUs that a service needs in each bin of time, on average over the bin. */
    private static double[] need(ServiceLoad load, double perGpu, Instant start, long bin, int bins) {
        double[] need = new double[bins];
        if (load.demand() instanceof Demand.Requests some) {
            double concurrency = load.service().replicaConcurrency().orElse(1)
                    * (perGpu / load.service().replicaCapacityPerSecond());
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
        for (int i = 0; i < bins; i++) {
            for (int sample = 0; sample < SAMPLES; sample++) {
                Instant at = start.plusMillis(i * bin + sample * bin / SAMPLES);
                need[i] += at.isBefore(rates.end()) ? rates.at(at) / perGpu / SAMPLES : 0;
            }
        }
        return need;
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
