package io.lendstream.forecaster;

/** Where the job keeps its state between records. */
enum StateBackend {
    /** As objects: fastest, as long as about 10 KB a service fit. */
    HEAP("hashmap"),
    /** In RocksDB, on disk where memory does not do; checkpoints hold what has changed. */
    ROCKSDB("rocksdb");

    private final String nameInFlink;

    StateBackend(String nameInFlink) {
        this.nameInFlink = nameInFlink;
    }

    String nameInFlink() {
        return nameInFlink;
    }
}
