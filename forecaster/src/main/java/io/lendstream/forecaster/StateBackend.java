package io.lendstream.forecaster;

/** Where the job keeps its state between checkpoints. */
enum StateBackend {
    /** As objects on the heap: fastest, if about 10 KB a service fit. */
    HEAP("hashmap"),
    /** In RocksDB, on disk if memory is too small; checkpoints contain only changes. */
    ROCKSDB("rocksdb");

    private final String nameInFlink;

    StateBackend(String nameInFlink) {
        this.nameInFlink = nameInFlink;
    }

    String nameInFlink() {
        return nameInFlink;
    }
}
