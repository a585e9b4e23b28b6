import { coverInternet } from '../../../../source-tools/terraform/rules/address-ranges';

const SLICES = Array.from({ length: 64 }, (_, i) => `${i * 4}.0.0.0/6`);

describe('address ranges', () => {
  it.each([
    [['0.0.0.0/0']],
    [['1.2.3.4/0']],
    [['0.0.0.0/1', '128.0.0.0/1']],
    [SLICES],
    [['0::0/0']],
    [['2000::/3']],
    [['::ffff:0.0.0.0/96']],
    [['10.0.0.0/8', '*']],
    [['AzureCloud.westeurope']],
  ])('cover the internet: %j', (texts) => {
    expect(coverInternet(texts)).toBe(true);
  });

  it.each([
    [[]],
    [['']],
    [['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
    [['fd00::/8', '2001:db8::/32']],
    [['203.0.113.7', '2001:db8::1']],
    [['::ffff:10.0.0.0/104']],
    [['8.0.0.0/6', '8.0.0.0/7', '8.0.0.0/8', '9.0.0.0/8']],
    [['VirtualNetwork']],
  ])('do not cover the internet: %j', (texts) => {
    expect(coverInternet(texts)).toBe(false);
  });

  it.each(['0/0', '1.2.3.4/33', '256.0.0.0/8', '1:2:3:4:5:6:7:8:9', ':::', '1.2.3.4/8/8'])(
    'that cannot be read count as the internet: %s',
    (text) => {
      expect(coverInternet([text])).toBe(true);
    },
  );
});
