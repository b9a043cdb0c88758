package io.lendstream.simulator;

/** Adds up what GPUs did, in GPU-seconds; computing only until the moment up to which utilisation is measured. */
final class GpuMeter {
    private final double measureUntil;
    private double computing;
    private double rescaling;

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

    void rescaling(double gpus, double from, double to) {
        rescaling += gpus * (to - from);
    }

    double computing() {
        return computing;
    }

    double rescaling() {
        return rescaling;
    }

    double measureUntil() {
        return measureUntil;
    }
}
