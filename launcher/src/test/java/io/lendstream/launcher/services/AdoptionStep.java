package io.lendstream.launcher.services;

/** The moments of an adoption at which {@link AdoptionSteps} lets a test do something to an {@link AdoptedCluster}. */
enum AdoptionStep {
    OBSERVED("foreign units are seen", 2),
    CLAIMED("an actuator has reported what it finds", 0),
    DECIDED("the adoption of the job is decided", 0),
    ADOPTED("all owners are known, and advice is on", 0),
    ADVISED("a loan is advised", 1),
    TRUSTED("one service is trusted", 1),
    LENDING("a loan is decided", 1),
    RECLAIMING("its reclaim is decided", 1);

    private final String words;
    private final int host;

    AdoptionStep(String words, int host) {
        this.words = words;
        this.host = host;
    }

    /** The host that this step is mainly about, from 0. */
    int host() {
        return host;
    }

    /** Whether nothing but adoptions may be in force. */
    boolean isBeforeTrust() {
        return compareTo(TRUSTED) < 0;
    }

    @Override
    public String toString() {
        return words;
    }
}
