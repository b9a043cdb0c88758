package io.lendstream.simulator;

/** Adds up what GPUs did, in GPU-seconds; computing only until the moment up to which utilisation is measured. */
final class GpuMeter {
    private final double measureUntil;
    private double computing;
    private double rescaling;
    private double starting;

    /** @param measureUntil in seconds since the start */
    GpuMeter(double measureUntil) {
        this.measureUntil = measureUntil;
    }

    void computing(double gpus, double from, double to) {
        double end = Math.min(to, measureUntil);
        if (end > from) {
            computing += gpus * (end - from);
        }
    }

    /** @param isFirst whether this is the first start of a job, which no policy can avoid */
    void rescaling(double gpus, boolean isFirst, double from, double to) {
        rescaling += gpus * (to - from);
        starting += isFirst ? gpus * (to - from) : 0;
    }

    double computing() {
        return computing;
    }

    double rescaling() {
        return rescaling;
    }

    /** The part of {@link #rescaling} in which jobs started for the first time. */
    double starting() {
        return starting;
    }

    double measureUntil() {
        return measureUntil;
    }
}
