/* NVML's events: errors of a machine's script that are newer than the set that waits for them. */
#include "machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvmlEventSetCreate(void **set) {
    begin();
    if (inits == 0) return leave(1);
    event_set_t *made = calloc(1, sizeof *made);
    for (unsigned i = 0; i < machine.xid_count; i++)
        if (machine.xids[i].number > made->last) made->last = machine.xids[i].number;
    *set = made;
    sets++;
    tell_state();
    return leave(0);
}

int nvmlEventSetFree(event_set_t *set) {
    begin();
    free(set);
    sets--;
    tell_state();
    return leave(0);
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, event_set_t *set) {
    ENTER
    NEED(types == 8)
    set->registered |= 1u << (((uintptr_t)device >> 16) - 1);
    return leave(0);
}

static int next_event(event_set_t *set, event_data_t *data) {
    for (unsigned i = 0; i < machine.xid_count; i++) {
        xid_t *x = &machine.xids[i];
        if (x->number > set->last && (set->registered >> x->gpu & 1)) {
            set->last = x->number;
            data->device = (void *)(((uintptr_t)x->gpu + 1) << 16);
            data->type = 8;
            data->data = x->xid;
            data->gpu_instance = x->gi;
            data->compute_instance = x->gi == 0xFFFFFFFFu ? x->gi : 0;
            return 1;
        }
    }
    return 0;
}

int nvmlEventSetWait(event_set_t *set, event_data_t *data, unsigned timeout) {
    for (unsigned waited = 0;; waited += 25) {
        begin();
        if (inits == 0) return leave(1);
        if (next_event(set, data)) return leave(0);
        leave(0);
        if (waited >= timeout) return 10;
        nap(25);
    }
}

#ifndef OLD_DRIVER
int nvmlEventSetWait_v2(event_set_t *set, event_data_t *data, unsigned timeout) { return nvmlEventSetWait(set, data, timeout); }
#endif
