#include "probe.hpp"
void probe()
{
    pto::SYNCALL_IMPL<pto::SyncCoreType::Mix>();
    pto::SYNCALL<pto::SyncCoreType::AIVOnly>();
}
