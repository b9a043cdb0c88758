package io.lendstream.benchmarks.soak;

/** What is sampled of a process, and how fast it may grow at most. */
enum SoakMetric {
    /** Memory in RAM that is the process's own, without files mapped into it. */
    RSS("rssMegabytes", 1.0),
    /** Files mapped into RAM: the broker's indexes, above all. The page cache takes them back, so they have no bound. */
    MAPPED("mappedMegabytes", Double.POSITIVE_INFINITY),
    /** Heap that is left after a collection. */
    HEAP("heapMegabytes", 0.5),
    THREADS("threads", 0.05),
    /** Open files, sockets and the like, but no segments. */
    DESCRIPTORS("descriptors", 0.2),
    /** Open files of the segments of a log: as many as there are segments, which go by retention; so they have no bound. */
    SEGMENTS("openSegmentFiles", Double.POSITIVE_INFINITY),
    /** Files that it keeps, or a topic: they grow with what is played, until retention. */
    FILES("megabytes", Double.POSITIVE_INFINITY);

    private final String text;
    private final double mostPerMinute;

    SoakMetric(String text, double mostPerMinute) {
        this.text = text;
        this.mostPerMinute = mostPerMinute;
    }

    String text() {
        return text;
    }

    /** The bound of its slope, in its unit a minute. */
    double mostPerMinute() {
        return mostPerMinute;
    }
}
