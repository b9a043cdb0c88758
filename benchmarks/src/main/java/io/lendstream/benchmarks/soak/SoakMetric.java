package io.lendstream.benchmarks.soak;

/** The sampled figures of a process, with the bounds of their growth. */
enum SoakMetric {
    /** Resident memory of the process itself, without mapped files. */
    RSS("rssMegabytes", 1.0),
    /** Mapped files in RAM, mostly indexes of the broker. The page cache can reclaim them, so they have no bound. */
    MAPPED("mappedMegabytes", Double.POSITIVE_INFINITY),
    /** Heap after a collection. */
    HEAP("heapMegabytes", 0.5),
    THREADS("threads", 0.05),
    /** Open files and sockets, without log segments. */
    DESCRIPTORS("descriptors", 0.2),
    /** Open files of log segments. Their number follows retention, so they have no bound. */
    SEGMENTS("openSegmentFiles", Double.POSITIVE_INFINITY),
    /** The files of a process or a topic: they grow with the workload until retention. */
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

    /** The bound of its slope, in its unit per minute. */
    double mostPerMinute() {
        return mostPerMinute;
    }
}
