package io.lendstream.core.goodput;

/** The known profile of a job: its speed, and the benefit of a larger batch. */
public record GoodputProfile(ThroughputParameters throughput, GradientNoise noise) {
    /** Of a job whose owner declares none. */
    public static final GoodputProfile UNKNOWN = new GoodputProfile(ThroughputParameters.UNKNOWN, GradientNoise.NONE);
}
