// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package results

import "strings"

var (
	givenNames  = strings.Fields("Amara Bjorn Camila Darius Elena Florian Gemma Hassan Ivana Jiro Keisha Lukas Mireille Nadia Omar Priya Rafael Saskia Tomas Ulrike Viktor Wren Ximena Yara Zoltan")
	familyNames = strings.Fields("Abara Blomqvist Carvalho Drozd Eilert Fitzgerald Gupta Horvath Iyer Jovanovic Keller Lindqvist Mbeki Novak Oyelaran Pereira Rinaldi Santos Thorne Urban Vasquez Wexler Yamada Zielinski")
	places      = strings.Fields("Aarhus Bilbao Coimbra Dresden Eindhoven Faro Gdansk Haarlem Innsbruck Jena Kaunas Linz Maribor Novara Odense Pilsen Rostock Salzburg Trieste Utrecht Vigo Wroclaw Zagreb")
)

// subjects of software, in several forms each.
var subjects = concepts(`
login page|sign-in screen
payment gateway|card processing
invoice export|billing download
image upload|picture uploader
search index|full-text search
mobile app|phone client
password reset|forgotten password mail
notification service|push messages
report generator|PDF reports
user import|bulk account import
audit log|audit trail
rate limiter|request throttling
file sync|folder synchronization
calendar widget|date picker
shopping cart|basket
address form|shipping address
session store|session cache
webhook delivery|outgoing webhooks
message queue|job queue
database migration|schema upgrade
feature flags|experiment toggles
translation files|localization
dark theme|night mode
video player|media playback
map view|location map
chat window|conversation panel
backup job|nightly backup
container image|docker build
health check|liveness probe
DNS resolver|name resolution
certificate renewal|TLS certificates
CSV parser|spreadsheet import
tax calculation|VAT amounts
currency conversion|exchange rates
thumbnail cache|preview images
access control|permission checks
autocomplete|type-ahead suggestions
mail template|newsletter layout
barcode scanner|QR reader
subscription renewal|recurring payments
`)

var problems = concepts(`
crashes|panics|segmentation fault
times out|never responds|hangs
returns wrong totals|miscounts|sum is off
leaks memory|memory keeps growing
rejects valid tokens|refuses correct credentials
loses updates|changes disappear
shows garbled characters|mojibake|encoding broken
sends duplicates|delivers twice
ignores the locale|wrong language
is slow|high latency|takes too long
fails silently|no error shown
blocks the main thread|freezes the interface
deadlocks|threads wait for each other
truncates long names|cuts off text
sorts incorrectly|wrong order
overwrites data|clobbers existing records
skips the last row|off by one
returns 404|not found response
exposes secrets|leaks credentials
retries forever|endless loop
uses the wrong time zone|hours are shifted
breaks on empty input|fails without data
flickers|jumps around
drains the battery|power consumption
reports success too early|false positive
`)

var wheres = concepts(`
after the upgrade|since the new release
on leap days|on 29 February
behind a proxy|through the corporate proxy
with many users|under heavy load
when the disk is full|without free space
on Windows|on Microsoft systems
in Safari|on Apple browsers
with unicode names|with umlauts
during daylight saving changes|when clocks change
in read-only mode|on replicas
for guests|for anonymous visitors
on slow networks|with bad connectivity
after midnight|at the end of the day
with two factor authentication|with 2FA
in the staging cluster|on the test environment
for large files|above two gigabytes
in private windows|incognito
with an expired license|after the trial
when offline|without network
on ARM machines|on aarch64
`)

var sentenceForms = strings.Split(strings.TrimSpace(`
We looked at the {s} first and found nothing unusual there.
It was tested with {n} accounts {w}.
{p} mentioned that the {s} behaved the same way last month.
The dashboards stayed green for {n} minutes.
Please attach the complete output if you can reproduce it.
There is a similar report about the {s}, but it was closed.
A restart helps for about {n} hours.
Nobody on the team owns this part at the moment.
{p} will compare the two branches {w}.
The documentation says nothing about this case.
I could not reproduce it locally with {n} attempts.
Rolling back the {s} did not change anything.
It happens roughly once in {n} requests.
Let us discuss it in the next planning meeting.
The test suite passes, which is surprising.
`), "\n")

// goods of a shop.
var goods = concepts(`
garden hose|watering pipe
desk lamp|reading light
office chair|swivel seat
coffee grinder|bean mill
hiking boots|trekking shoes
rain jacket|waterproof coat
frying pan|skillet
bicycle pump|tyre inflator
tent|camping shelter
sleeping bag|camp bedding
water bottle|drinking flask
backpack|rucksack
wall clock|timepiece
bread knife|serrated blade
power drill|cordless screwdriver
paint roller|wall painting tool
yoga mat|exercise pad
bird feeder|seed dispenser
picture frame|photo holder
extension cord|power cable
wool blanket|warm throw
kitchen scale|food balance
tool box|storage case
bath towel|terry cloth
headphones|headset
`)

var materials = concepts(`
walnut|dark wood
stainless steel|rustproof metal
merino|fine wool
bamboo|cane
ceramic|earthenware
recycled plastic|reused polymer
cast iron|heavy iron
cork|bark
titanium|light metal
linen|flax
copper|reddish metal
rubber|elastic
`)

var colors = concepts(`
crimson|deep red
navy|dark blue
olive|muted green
ivory|off-white
charcoal|dark grey
turquoise|blue-green
mustard|dull yellow
lavender|pale purple
`)

// resources and actions of an interface.
var resources = concepts(`
invoice|bill
customer|client
shipment|delivery
warehouse|depot
employee|staff member
contract|agreement
ticket|support request
voucher|gift coupon
device|appliance
sensor|measuring probe
playlist|track list
booking|reservation
vehicle|car
prescription|medication order
policy|insurance cover
refund|money back
campaign|advertising drive
course|training
appointment|scheduled visit
supplier|vendor
`)

var actions = concepts(`
list|enumerate
create|add
archive|retire
approve|sign off
cancel|call off
merge|combine
export|download
duplicate|copy
assign|hand over
restore|bring back
validate|check
schedule|plan
`)

var topics = concepts(`
budget review|spending check
hiring plan|recruiting
office move|relocation
security training|phishing course
quarterly results|earnings
product launch|release party
customer visit|client tour
retrospective|lessons learned
architecture board|design council
salary round|pay raises
fire drill|evacuation exercise
supplier negotiation|vendor talks
onboarding|first day of new colleagues
roadmap workshop|planning of features
incident review|postmortem
marketing shoot|photo session
legal consultation|lawyer appointment
data migration|moving the records
team lunch|eating together
annual audit|yearly inspection
`)

var zhSubjects = concepts(`
登录页面|登陆界面
支付网关|付款接口
发票导出|开票下载
图片上传|照片上传
搜索索引|全文检索
手机客户端|移动应用
密码重置|找回密码
消息推送|通知服务
报表生成|统计报表
批量导入|用户导入
审计日志|操作记录
限流模块|访问限制
文件同步|目录同步
购物车|购物篮
收货地址|配送地址
会话缓存|会话存储
任务队列|消息队列
数据库迁移|表结构升级
夜间备份|定时备份
证书续期|证书更新
`)

var zhProblems = concepts(`
崩溃|闪退
响应超时|一直没有响应
金额计算错误|总额不对
内存泄漏|内存不断增长
拒绝有效令牌|正确的凭证被拒绝
丢失更新|修改消失
出现乱码|字符显示错误
重复发送|发送两次
速度很慢|延迟过高
排序错误|顺序不对
时区错误|时间差几个小时
泄露密钥|暴露凭据
`)

var zhWheres = concepts(`
升级之后|新版本发布以来
在代理后面|通过公司代理
用户很多时|高负载下
磁盘写满时|没有剩余空间
断网时|没有网络
在测试环境|在预发环境
使用双因素认证时|开启二次验证后
处理大文件时|文件很大时
`)

var zhNames = strings.Fields("王芳 李强 张伟 刘洋 陈静 杨磊 赵敏 黄勇 周杰 吴倩 徐涛 孙丽 马超 朱琳 胡斌 郭雪 何军 高洁 林峰 罗燕")

var zhFiller = strings.Split(strings.TrimSpace(`
目前还没有找到稳定的复现步骤。
值班同事检查了监控，没有发现异常。
重启之后可以恢复一段时间。
请补充完整的日志和截图。
该问题上个月也出现过一次。
回滚之后情况没有变化。
文档里没有说明这种情况。
下次例会再讨论处理方案。
`), "\n")
